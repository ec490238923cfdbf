/** Generated from query.grammar by `npm run docs`. */
import {LRParser} from "@lezer/lr"
import {tokens} from "./tokens.ts"
export const parser = LRParser.deserialize({
  version: 14,
  states: "(WQVQROOOVQRO'#CpOVQRO'#CqOnQRO'#CrOOQP'#DT'#DTOOQP'#DS'#DSOsQRO'#DROOQP'#DR'#DRO!TQRO'#DQOOQP'#DQ'#DQQOQQOOOOQP,59[,59[O!`QRO,59]O!eQRO,59^OOQP'#C{'#C{OVQRO'#C{O!vQRO,59ZOVQRO'#C|O#WQRO,59YOOQP1G.w1G.wO#cQRO'#CsO#kQRO'#CtOOQP'#DU'#DUOOQP1G.x1G.xOOQP,59g,59gOOQP-E6y-E6yOOQP,59h,59hOOQP-E6z-E6zOOQP'#DV'#DVO$SQRO,59_O#kQRO'#CwO#kQRO'#CxOOQP'#DZ'#DZOOQP'#DY'#DYO$XQRO'#DXOOQP'#DX'#DXO$fQRO'#DWOOQP'#DW'#DWO$nQRO,59`O#cQRO1G.yOOQP,59c,59cO$sQRO,59dOOQP'#Cy'#CyO#kQRO'#CyO$xQRO,59bO#kQRO'#CzO%VQRO,59aOOQP1G.z1G.zO%_QRO7+$eOOQP1G/O1G/OOOQP,59e,59eOOQP-E6w-E6wOOQP,59f,59fOOQP-E6x-E6xOOQP<<HP<<HP",
  stateData: "%d~OsOS~ORPOSPOTQOVROYSOZSO[SO~OW]O~OQ_OPuXquXUuX~PVOPaOqtXUtX~OUcO~OTeOXfOZfO[fO]dO~OQ_OPcaqcaUca~PVOPaOqbaUba~OZlO`lO~ORnOSnOToOXpOZpO[pO]dO~O_wO~OQ{OP{XU{X~P#kOP}OUzX~OU!PO~OU!RO~OQ{OPjaUja~P#kOP}OUia~O^!WO~O",
  goto: "%[!OPPPPPPPPPPPPPPPPPP!P!T!Y!c!c!l!x!{#P#U!o#_#e#k#qPPP#w#}$U!Y$e$h$n$t${#UTXOQVVOQa_TOPQU_`a_SOPQU_`aQf]_penor{|}Rf]TueoVseo}_qenor{|}Q|rR!T|Q!OtR!V!OQ`URi`QbWRkbQYOR[QSWOQRjaUUOQaQZPS^U`Rh_Rg]QmdR!QwQveRyoSteoR!U}Ureo}QxnSzr|R!S{",
  nodeNames: "⚠ OrWord AndWord NotWord Minus Open Close Key Operator Value Word Phrase Regex RangeOpen RangeClose ToWord Bound Query Or And Not Group Comparison Range Values Or And Not Group",
  maxTerm: 45,
  skippedNodes: [0],
  repeatNodeCount: 4,
  tokenData: "!f~RYX^qpqq#y#zq$f$gq#BY#BZq$IS$I_q$I|$JOq$JT$JUq$KV$KWq&FU&FVq~vYs~X^qpqq#y#zq$f$gq#BY#BZq$IS$I_q$I|$JOq$JT$JUq$KV$KWq&FU&FVq",
  tokenizers: [tokens, 0],
  topRules: {"Query":[0,17]},
  tokenPrec: 0
})
