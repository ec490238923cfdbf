/** Generated from query.grammar by `npm run docs`. */
import {LRParser} from "@lezer/lr"
import {tokens} from "./tokens.ts"
export const parser = LRParser.deserialize({
  version: 14,
  states: "(WQVQROOOVQRO'#CpOVQRO'#CqOnQRO'#CrOOQP'#DT'#DTOOQP'#DS'#DSOsQRO'#DROOQP'#DR'#DRO!TQRO'#DQOOQP'#DQ'#DQQOQQOOOOQP,59[,59[O!`QRO,59]O!eQRO,59^OOQP'#C{'#C{OVQRO'#C{O!vQRO,59ZOVQRO'#C|O#WQRO,59YOOQP1G.w1G.wO#cQRO'#CsO#kQRO'#CtOOQP'#DU'#DUOOQP1G.x1G.xOOQP,59g,59gOOQP-E6y-E6yOOQP,59h,59hOOQP-E6z-E6zOOQP'#DV'#DVO$PQRO,59_O#kQRO'#CwO#kQRO'#CxOOQP'#DZ'#DZOOQP'#DY'#DYO$UQRO'#DXOOQP'#DX'#DXO$cQRO'#DWOOQP'#DW'#DWO$kQRO,59`O#cQRO1G.yOOQP,59c,59cO$pQRO,59dOOQP'#Cy'#CyO#kQRO'#CyO$uQRO,59bO#kQRO'#CzO%SQRO,59aOOQP1G.z1G.zO%[QRO7+$eOOQP1G/O1G/OOOQP,59e,59eOOQP-E6w-E6wOOQP,59f,59fOOQP-E6x-E6xOOQP<<HP<<HP",
  stateData: "%a~OsOS~ORPOSPOTQOVROYSOZSO[SO~OW]O~OQ_OPuXquXUuX~PVOPaOqtXUtX~OUcO~OTeOXfOZfO[fO]dO~OQ_OPcaqcaUca~PVOPaOqbaUba~OZlO`lO~ORnOSnOToOXpOZpO[pO~O_wO~OQ{OP{XU{X~P#kOP}OUzX~OU!PO~OU!RO~OQ{OPjaUja~P#kOP}OUia~O^!WO~O",
  goto: "%X!OPPPPPPPPPPPPPPPPPP!P!T!Y!c!c!l!l!o!s!x#R#[#b#h#nPPP#t#z$R!Y$b$e$k$q$x!xTXOQVVOQa_TOPQU_`a_SOPQU_`aRf]TueoVseo}_qenor{|}_penor{|}Q|rR!T|Q!OtR!V!OQ`URi`QbWRkbQYOR[QSWOQRjaUUOQaQZPS^U`Rh_Rg]QmdR!QwQveRyoSteoR!U}Ureo}QxnSzr|R!S{",
  nodeNames: "⚠ OrWord AndWord NotWord Minus Open Close Key Operator Value Word Phrase Regex RangeOpen RangeClose ToWord Bound Query Or And Not Group Comparison Range Values Or And Not Group",
  maxTerm: 45,
  skippedNodes: [0],
  repeatNodeCount: 4,
  tokenData: "!f~RYX^qpqq#y#zq$f$gq#BY#BZq$IS$I_q$I|$JOq$JT$JUq$KV$KWq&FU&FVq~vYs~X^qpqq#y#zq$f$gq#BY#BZq$IS$I_q$I|$JOq$JT$JUq$KV$KWq&FU&FVq",
  tokenizers: [tokens, 0],
  topRules: {"Query":[0,17]},
  tokenPrec: 0
})
