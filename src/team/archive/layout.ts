import { SESSION_PATTERN } from "../../schema/names.ts";

/** File names in a team's archive, below the folder that is named after the team. */
export const IN_ARCHIVE = {
  manifest: "manifest.json",
  config: "config.json",
  journal: "journal.jsonl",
  events: "events.jsonl",
  /** Earlier events, after a rotation of the log (telemetry/event-log.ts). */
  olderEvents: "events.1.jsonl",
  highWaterMark: "tasks/.highwatermark",
  inbox: (file: string) => `inboxes/${file}`,
  request: (file: string) => `requests/${file}`,
  task: (file: string) => `tasks/${file}`,
  /** @param agent the agent's file name */
  status: (agent: string) => `run/${agent}/status.json`,
  exit: (agent: string) => `run/${agent}/exit.json`,
  plan: (agent: string) => `plans/${agent}.md`,
  conversation: (sessionId: string) => `sessions/${sessionId}.jsonl`,
} as const;

/** The kind of a file in an archive. */
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
  /** The variable part of the name: a task's id, a file name without extension, a session's id. */
  readonly stem: string;
  /** Maximum size in bytes. */
  readonly maxBytes: number;
}

const MIB = 1024 * 1024;
/** Parsed files are kept in memory; real ones have a few kilobytes. */
const RECORD = 16 * MIB;
/** Inboxes are checked as one string. */
const INBOX = 256 * MIB;
/** Streamed files: the longest history that is worth restoring. */
const HISTORY = 4096 * MIB;

/** An agent's file name: at most 200 characters, without the extension. */
const AGENT = "([A-Za-z0-9_%-]{1,200})";
const SESSION = `(${SESSION_PATTERN})`;
const TASK = "([1-9][0-9]{0,14})";

/** All file names that an archive may contain; no other file is ever created from it. */
const PLACES: readonly (readonly [RegExp, ArchivedKind, number])[] = [
  [/^manifest\.json()$/, "manifest", 2 * RECORD],
  [/^config\.json()$/, "config", RECORD],
  [/^(journal|events(?:\.1)?)\.jsonl$/, "log", HISTORY],
  [new RegExp(`^inboxes/${AGENT}\\.json$`), "inbox", INBOX],
  [new RegExp(`^inboxes/${AGENT}(\\.bad\\.jsonl|\\.json\\.broken-[0-9]{1,15})$`), "inbox", HISTORY],
  [new RegExp(`^requests/${AGENT}\\.(json|answer)$`), "request", RECORD],
  [new RegExp(`^tasks/${TASK}\\.json$`), "task", RECORD],
  [/^tasks\/\.highwatermark()$/, "highWaterMark", 32],
  [new RegExp(`^(config|tasks/${TASK})\\.json\\.broken-[0-9]{1,15}$`), "broken", RECORD],
  [new RegExp(`^run/${AGENT}/status\\.json$`), "status", RECORD],
  [new RegExp(`^run/${AGENT}/exit\\.json$`), "exit", RECORD],
  [new RegExp(`^plans/${AGENT}\\.md$`), "plan", RECORD],
  [new RegExp(`^sessions/${SESSION}\\.jsonl$`), "conversation", HISTORY],
];

/** Returns the kind of a file in an archive by its name; undefined for a name that is not allowed. */
export function placeInArchive(name: string): ArchivedPlace | undefined {
  for (const [pattern, kind, maxBytes] of PLACES) {
    const stem = pattern.exec(name)?.[1];
    if (stem !== undefined) return { kind, stem, maxBytes };
  }
  return undefined;
}
