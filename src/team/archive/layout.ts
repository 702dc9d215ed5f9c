/** Where in a team's archive something stands, below the folder that is named after the team. */
export const IN_ARCHIVE = {
  manifest: "manifest.json",
  config: "config.json",
  journal: "journal.jsonl",
  events: "events.jsonl",
  /** Those before, once the log has made way (telemetry/bounded-log.ts). */
  olderEvents: "events.1.jsonl",
  highWaterMark: "tasks/.highwatermark",
  inbox: (file: string) => `inboxes/${file}`,
  request: (file: string) => `requests/${file}`,
  task: (file: string) => `tasks/${file}`,
  /** @param agent as a file is named after it */
  status: (agent: string) => `run/${agent}/status.json`,
  exit: (agent: string) => `run/${agent}/exit.json`,
  plan: (agent: string) => `plans/${agent}.md`,
  conversation: (sessionId: string) => `sessions/${sessionId}.jsonl`,
} as const;

/** What a file of an archive is. */
type ArchivedKind =
  | "manifest"
  | "config"
  | "log"
  | "inbox"
  | "request"
  | "task"
  | "highWaterMark"
  | "broken"
  | "status"
  | "exit"
  | "plan"
  | "conversation";

export interface ArchivedPlace {
  readonly kind: ArchivedKind;
  /** What the name says besides: a task's id, a file's name without its end, a session's id. */
  readonly stem: string;
  /** Bytes that such a file may have. */
  readonly maxBytes: number;
}

const MIB = 1024 * 1024;
/** What is parsed is held in memory; a real one has some kilobytes. */
const RECORD = 16 * MIB;
/** What only passes through: the longest history that is still worth a restore. */
const HISTORY = 4096 * MIB;

/** A file that is named after an agent: at most 200 characters, and the longest end that stands behind. */
const AGENT = "([A-Za-z0-9_%-]{1,200})";
const SESSION = "([A-Za-z0-9_-]{1,64})";
const TASK = "([1-9][0-9]{0,14})";

/** Every name that an archive may hold; nothing else is ever made from one. */
const PLACES: readonly (readonly [RegExp, ArchivedKind, number])[] = [
  [/^manifest\.json()$/, "manifest", 2 * RECORD],
  [/^config\.json()$/, "config", RECORD],
  [/^(journal|events(?:\.1)?)\.jsonl$/, "log", HISTORY],
  [new RegExp(`^inboxes/${AGENT}(\\.json|\\.bad\\.jsonl|\\.json\\.broken-[0-9]{1,15})$`), "inbox", HISTORY],
  [new RegExp(`^requests/${AGENT}\\.(json|answer)$`), "request", RECORD],
  [new RegExp(`^tasks/${TASK}\\.json$`), "task", RECORD],
  [/^tasks\/\.highwatermark()$/, "highWaterMark", 32],
  [new RegExp(`^(config|tasks/${TASK})\\.json\\.broken-[0-9]{1,15}$`), "broken", RECORD],
  [new RegExp(`^run/${AGENT}/status\\.json$`), "status", RECORD],
  [new RegExp(`^run/${AGENT}/exit\\.json$`), "exit", RECORD],
  [new RegExp(`^plans/${AGENT}\\.md$`), "plan", RECORD],
  [new RegExp(`^sessions/${SESSION}\\.jsonl$`), "conversation", HISTORY],
];

/** What a name in an archive stands for; undefined for one that no archive of ours holds. */
export function placeInArchive(name: string): ArchivedPlace | undefined {
  for (const [pattern, kind, maxBytes] of PLACES) {
    const stem = pattern.exec(name)?.[1];
    if (stem !== undefined) return { kind, stem, maxBytes };
  }
  return undefined;
}

/** Whether a session's id can name a file; a foreign record may say anything. */
export function isSessionId(id: string): boolean {
  return new RegExp(`^${SESSION}$`).test(id);
}
