/**
 * `npm run bench -- --peers`: Weir and VictoriaLogs, one after the other on this machine: the same
 * logs, the same questions, and ratios.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onInterrupt } from '../interrupt.ts';
import { describeMachine } from '../machine.ts';
import { type CorpusKind, type CorpusName, corpusKinds, writeCorpus } from './corpus.ts';
import { type LoggedCorpus, measurePeer, type PeerFigures } from './measure.ts';
import type { Peer } from './peer.ts';
import { listQuestions, type QuestionKind } from './questions.ts';
import { replaceSection, toMarkdown } from './report.ts';
import { findVictoriaLogs, startVictoriaLogs } from './victoria-logs.ts';
import { startWeirPeer } from './weir.ts';

export interface PeersOptions {
  readonly seed: number;
  readonly rows: number;
  readonly corpus: string;
  /** Path of the binary; undefined searches PATH. */
  readonly victoriaLogs: string | undefined;
  /** Whether to write the section of this corpus in RESULTS.md. */
  readonly isWritten: boolean;
}

const dayMs = 86_400_000;
const results = new URL('./RESULTS.md', import.meta.url);

export async function benchPeers(options: PeersOptions): Promise<void> {
  const { seed, rows, corpus: name } = options;
  if (!isCorpusName(name)) {
    const names = [...Object.keys(corpusKinds), 'samples', 'promql'].join(', ');
    throw new Error(`cannot use the corpus ${name}: --corpus is one of ${names}`);
  }
  const binary = findVictoriaLogs(options.victoriaLogs);
  if (binary === undefined) {
    console.error(
      'bench: skipped --peers: neither victoria-logs nor victoria-logs-prod is in PATH; ' +
        'name the binary with --victoria-logs PATH (bench/README.md says how to build it)',
    );
    return;
  }
  if (statSync(binary, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new Error(`cannot run ${binary}: --victoria-logs must name the binary`);
  }
  const scratch = mkdtempSync(join(tmpdir(), 'weir-peers-'));
  const { measure, cleanUp } = createTurns(scratch);
  const interruption = onInterrupt(cleanUp);
  try {
    const kind: CorpusKind = corpusKinds[name];
    const endMs = Date.now();
    const range = { sinceMs: endMs - dayMs, untilMs: endMs };
    say(`generate ${rows} logs`);
    const path = join(scratch, 'corpus.jsonl');
    const corpus = await writeCorpus(path, kind, { seed, rows, startMs: range.sinceMs, endMs });
    const questions = listQuestions(kind, corpus.samples, range);
    const logs = { ...corpus, range };
    const weir = await measure(startWeirPeer(join(scratch, 'weir')), logs, questions);
    const directory = join(scratch, 'victoria-logs');
    mkdirSync(directory);
    const peer = await measure(startVictoriaLogs(binary, directory), logs, questions);
    const section = `${name}, ${rows / 1e6} million logs`;
    const markdown = toMarkdown({
      corpus: section,
      description: kind.description,
      command: `npm run bench -- --peers --corpus ${name} --rows ${rows} --seed ${seed}`,
      machine: describeMachine(),
      when: new Date().toISOString().slice(0, 10),
      rows,
      corpusBytes: corpus.bytes,
      weir,
      peer,
    });
    console.log(markdown);
    if (!options.isWritten) return;
    writeFileSync(results, replaceSection(readFileSync(results, 'utf8'), section, markdown));
  } finally {
    await cleanUp();
    interruption.cancel();
  }
}

/** Measures one peer at a time. `cleanUp` stops the one that runs and deletes `scratch`. */
function createTurns(scratch: string) {
  let running: Promise<Peer> | undefined;
  let cleaned: Promise<void> | undefined;
  const stop = async () => {
    const stopping = running;
    running = undefined;
    await (await stopping)?.stop();
  };
  return {
    async measure(
      opening: Promise<Peer>,
      logs: LoggedCorpus,
      questions: readonly QuestionKind[],
    ): Promise<PeerFigures> {
      running = opening;
      const peer = await opening;
      const figures = await measurePeer(peer, logs, questions, (phase) => {
        say(`${peer.name}: ${phase}`);
      });
      await stop();
      return figures;
    },
    cleanUp(): Promise<void> {
      cleaned ??= stop().finally(() => rmSync(scratch, { recursive: true, force: true }));
      return cleaned;
    },
  };
}

function isCorpusName(name: string): name is CorpusName {
  return Object.hasOwn(corpusKinds, name);
}

function say(phase: string): void {
  console.error(`bench: ${phase}`);
}
