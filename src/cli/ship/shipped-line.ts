/** Lines of log files of containers, and lines that belong together, as events. Pure. */

export interface SourceLine {
  readonly text: string;
  /** Counted from 1 among the lines that were read at once. */
  readonly number: number;
  /** Offset in the file. */
  readonly from: number;
  /** Offset of the next line in the file. */
  readonly end: number;
}

/** One event of a source. */
export interface JoinedLine extends SourceLine {
  readonly time?: string | undefined;
  /** stdout or stderr. */
  readonly stream?: string | undefined;
  /** A later line may belong to it. */
  readonly isOpen?: boolean;
}

export type ContainerFormat = 'none' | 'docker' | 'cri';

interface ContainerLine {
  readonly text: string;
  readonly time: string | undefined;
  readonly stream: string | undefined;
  /** The line continues in the next one. */
  readonly isPartial: boolean;
}

/** Longer events are sent in pieces. */
const maxEventLength = 1024 * 1024;

/**
 * Joins lines to events.
 * @param start a line that matches begins an event, the others continue it; undefined = each does
 */
export function joinLines(
  lines: readonly SourceLine[],
  { format, start }: { readonly format: ContainerFormat; readonly start: Matcher | undefined },
): JoinedLine[] {
  const whole: readonly JoinedLine[] = format === 'none' ? lines : joinPartial(lines, format);
  if (start === undefined) return [...whole];
  const joined: JoinedLine[] = [];
  for (const line of whole) {
    const last = joined.at(-1);
    const isContinued =
      last !== undefined &&
      !start(line.text) &&
      last.text.length + line.text.length < maxEventLength;
    if (isContinued) {
      const text = `${last.text}\n${line.text}`;
      // A line of one stream may lie among the parts of a line of the other.
      const end = Math.max(last.end, line.end);
      const isOpen = last.isOpen === true || line.isOpen === true;
      joined.splice(-1, 1, { ...last, text, end, isOpen });
    } else joined.push(line);
  }
  const last = joined.at(-1);
  return last === undefined ? [] : [...joined.slice(0, -1), { ...last, isOpen: true }];
}

/**
 * The events that can be sent: none is open, and no line of another lies among theirs.
 * @param isFinal no line will follow
 */
export function takeComplete(
  lines: readonly JoinedLine[],
  { maxEvents, isFinal }: { readonly maxEvents: number; readonly isFinal: boolean },
): JoinedLine[] {
  const firstOpen = isFinal ? -1 : lines.findIndex(({ isOpen }) => isOpen);
  const most = Math.min(maxEvents, firstOpen < 0 ? lines.length : firstOpen);
  /** Where the events from an index on begin. */
  const starts: number[] = [];
  let start = Infinity;
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    start = Math.min(start, lines[index]!.from);
    starts[index] = start;
  }
  let end = 0;
  let count = 0;
  for (let index = 0; index < most; index += 1) {
    end = Math.max(end, lines[index]!.end);
    if ((starts[index + 1] ?? Infinity) >= end) count = index + 1;
  }
  return lines.slice(0, count);
}

export type Matcher = (text: string) => boolean;

/** Container runtimes split lines at 16 KiB. */
function joinPartial(lines: readonly SourceLine[], format: ContainerFormat): JoinedLine[] {
  const joined: JoinedLine[] = [];
  /** Streams are interleaved. */
  const open = new Map<string | undefined, number>();
  for (const { text: raw, number, from, end } of lines) {
    const { text, time, stream, isPartial } = (format === 'docker' ? readDocker : readCri)(raw);
    const index = open.get(stream);
    const first = index === undefined ? undefined : joined[index];
    if (index !== undefined && first !== undefined) {
      joined[index] = { ...first, text: first.text + text, end };
    } else {
      joined.push({ text, number, from, end, time, stream });
    }
    const isFull = (first?.text.length ?? 0) + text.length >= maxEventLength;
    if (isPartial && !isFull) open.set(stream, index ?? joined.length - 1);
    else open.delete(stream);
  }
  for (const index of open.values()) joined[index] = { ...joined[index]!, isOpen: true };
  return joined;
}

/** `{"log":"…\n","stream":"stdout","time":"…"}`, the json-file driver. */
function readDocker(raw: string): ContainerLine {
  try {
    const { log, stream, time } = JSON.parse(raw) as Readonly<Record<string, unknown>>;
    if (typeof log === 'string') {
      return {
        text: log.replace(/\r?\n$/, ''),
        time: typeof time === 'string' ? time : undefined,
        stream: typeof stream === 'string' ? stream : undefined,
        isPartial: !log.endsWith('\n'),
      };
    }
  } catch {
    // A damaged line is sent as it is.
  }
  return { text: raw, time: undefined, stream: undefined, isPartial: false };
}

const cri =
  /^(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([PF])(?::\S*)? ?([^]*)$/;

/** https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md */
function readCri(raw: string): ContainerLine {
  const [, time, stream, tag, text] = cri.exec(raw) ?? [];
  if (text === undefined) {
    return { text: raw, time: undefined, stream: undefined, isPartial: false };
  }
  return { text, time, stream, isPartial: tag === 'P' };
}

const podFolder = /\/pods\/([^/_]+)_([^/_]+)_[^/]+\/([^/]+)\/[^/]+$/;
const podFile = /\/containers\/([^/_]+)_([^/_]+)_([^/]+)-[0-9a-f]{64}\.log$/;

/** Kubernetes labels from the path of a container's log. */
export function kubernetesLabels(path: string): [string, string][] {
  const [, ofFolder, podOfFolder, containerOfFolder] = podFolder.exec(path) ?? [];
  const [, podOfFile, ofFile, containerOfFile] = podFile.exec(path) ?? [];
  const namespace = ofFolder ?? ofFile;
  if (namespace === undefined) return [];
  return [
    ['k8s.namespace.name', namespace],
    ['k8s.pod.name', podOfFolder ?? podOfFile ?? ''],
    ['k8s.container.name', containerOfFolder ?? containerOfFile ?? ''],
  ];
}
