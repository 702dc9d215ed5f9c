import { transcriptLine } from "../../agent/conversation/transcript.ts";
import { follow } from "../../operations/follow-team.ts";
import { fileSize } from "../../os/files/fs.ts";
import { startOfLastLines } from "../../os/files/lines.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { parseJsonLine, readTextLines } from "../../store/jsonl.ts";
import { openLineFeed } from "../../store/tail.ts";
import { readTeam } from "../../team/config/config.ts";
import { conversationPath } from "../../team/records/conversation-path.ts";
import { readLastStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import { conversationLog } from "../../terminal/conversation-log.ts";
import { brokenTasksNote } from "../../terminal/status-line.ts";
import type { SessionFact, ShowFact } from "./facts.ts";
import { MAX_REPLAYED } from "./limits.ts";
import { leadView, teammateView } from "./member-view.ts";

interface FollowOptions {
  /** The directory of the members' conversations. */
  readonly conversations: string;
  readonly signal: AbortSignal;
  /** Called at once, and after each change. Must not throw. */
  onChange(): void;
  onProblem(error: unknown): void;
}

export interface TeamFollower {
  /** Follows again after the lead has recreated or renamed its team. */
  restart(): Promise<void>;
  /** Stops following. Never rejects. */
  end(): Promise<void>;
}

/** Follows the files of a team and the conversations of its members, until the signal aborts. */
export function followTeam(
  ref: TeamRef,
  { conversations, signal, onChange, onProblem }: FollowOptions,
): TeamFollower {
  const check = (): false => {
    onChange();
    return false;
  };
  const begin = (): (() => Promise<void>) => {
    const ending = new AbortController();
    const either = AbortSignal.any([signal, ending.signal]);
    const followed = follow(ref, check, { signal: either, alsoWatch: [conversations] }).then(
      () => undefined,
      onProblem,
    );
    return async () => {
      ending.abort();
      await followed;
    };
  };
  let end = begin();
  return {
    async restart() {
      await end();
      end = begin();
    },
    end: () => end(),
  };
}

const parse = parseJsonLine(transcriptLine);

/**
 * Shows the tool calls of the teammates, which run in other processes, as they appear in their conversations.
 * @param isNew whether the team is new; of a resumed team, earlier calls are not shown
 * @returns a function that shows the new calls
 */
export function followTeammates(ref: TeamRef, isNew: boolean, show: ShowFact): () => void {
  /** Keyed by the conversation's file: a restarted teammate continues its conversation. */
  const followed = new Map<string, () => void>();
  const begin = (name: string, transcript: string, from: number): void => {
    const feed = openLineFeed(transcript, parse, { from });
    const log = conversationLog(teammateView(name, show));
    followed.set(transcript, () => log(feed.poll()));
  };
  if (!isNew)
    for (const [name, transcript] of conversationsOf(ref)) begin(name, transcript, fileSize(transcript) ?? 0);
  let previous: ReadonlySet<string> = new Set();
  return () => {
    const present = conversationsOf(ref);
    for (const [name, transcript] of present) if (!followed.has(transcript)) begin(name, transcript, 0);
    const files = new Set(present.values());
    // Also the last calls of a teammate that has just left.
    for (const file of new Set([...previous, ...files])) followed.get(file)?.();
    previous = files;
  };
}

/** Returns the files of the teammates' conversations, by name. For a restarting teammate, it is the file of its last process. */
function conversationsOf(ref: TeamRef): ReadonlyMap<string, string> {
  return new Map(
    readTeam(ref).members.flatMap(({ name }): [string, string][] => {
      const status = name === LEAD_NAME ? undefined : readLastStatus(ref, name);
      return status === undefined ? [] : [[name, conversationPath(ref, status)]];
    }),
  );
}

/** Entries that are shown at a time; the client must have received them before the next ones. */
const REPLAY_STEP = 100;

interface Replay {
  show(fact: SessionFact): void;
  /** Resolves when the client has received everything that was shown. */
  flushed(): Promise<void>;
}

/** Shows the newest entries of the lead's earlier conversation. */
export async function replayLead(transcript: string, client: Replay): Promise<void> {
  const show = (fact: SessionFact): void => client.show(fact);
  const view = leadView(LEAD_NAME, show, {
    typed: (text) => show({ kind: "prompt", text }),
    event: () => undefined,
  });
  const log = conversationLog(view);
  const entries = readTextLines(transcript, startOfLastLines(transcript, MAX_REPLAYED)).texts.flatMap(parse);
  for (let at = 0; at < entries.length; at += REPLAY_STEP) {
    log(entries.slice(at, at + REPLAY_STEP));
    await client.flushed();
  }
}

/** The tasks that a client sees as its plan. */
export class ShownTasks {
  readonly #show: ShowFact;
  #shown = "[]";
  /** The note about tasks that cannot be read; "" if all can be read. */
  #brokenTasks = "";

  constructor(show: ShowFact) {
    this.#show = show;
  }

  /** Shows the tasks if they have changed. */
  check(ref: TeamRef): void {
    const broken: string[] = [];
    const tasks = listTasks(ref, (_, id) => broken.push(id));
    const note = broken.length === 0 ? "" : brokenTasksNote(broken);
    if (note !== this.#brokenTasks && note !== "")
      this.#show({ kind: "notice", severity: "warning", text: note });
    this.#brokenTasks = note;
    const shown = JSON.stringify(tasks.map(({ id, subject, owner, status }) => [id, subject, owner, status]));
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#show({ kind: "tasks", tasks });
  }
}
