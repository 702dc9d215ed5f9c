import { replaceFile } from "../../os/files/atomic-write.ts";
import { type LogFile, openLogFile } from "../../os/files/capped-log.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import type { AgentState, ExitRecord } from "../../schema/status.ts";
import { formatJson } from "../../store/format-json.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import type { SpawnRequest } from "../backend.ts";
import type { InProcessState } from "./states.ts";

/** Lines that are kept of what an agent has shown: two dozen screens; its conversation has the rest. */
const MOST_LINES = 1_000;

/** The end of what an agent without a terminal of its own has written, line by line. */
export class OutputTail {
  #lines: string[] = [""];

  write(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    const begun = `${this.#lines.pop() ?? ""}${first}`;
    this.#lines = [...this.#lines, begun, ...rest].slice(-MOST_LINES);
  }

  /** The last of them, oldest first; one that is not written yet is none. */
  lines(most: number = MOST_LINES): string[] {
    const whole = this.#lines.at(-1) === "" ? this.#lines.slice(0, -1) : this.#lines;
    return whole.slice(-most);
  }
}

/** What reaches a worker from within its process, besides its mail. */
interface WorkerHands {
  typed(line: string): Promise<void>;
  /** @returns whether a turn was running */
  interrupt(): boolean;
}

/** One start of a worker in this process. */
export interface WorkerStart {
  readonly request: SpawnRequest;
  /** Ends it from outside. */
  readonly signal: AbortSignal;
  /** What stands for its terminal. */
  write(text: string): void;
  /** What it says of itself. */
  said(state: AgentState): void;
  reach(hands: WorkerHands): void;
  /** Whether nobody waits for it any more: it says nothing then, in no file. */
  isOver(): boolean;
}

/** Runs a worker until its end. @returns the exit status that a process of its own would have */
export type RunWorker = (start: WorkerStart) => Promise<number>;

/** A teammate that lives in this process, for whoever shows it. */
export interface InProcessAgent {
  readonly name: string;
  readonly color: string;
  readonly state: InProcessState;
  /** What it has shown last. */
  readonly shown: OutputTail;
  /** A person's line, as if typed in its pane. */
  typed(line: string): Promise<void>;
  interrupt(): boolean;
}

/** Lines of its end that are kept for the lead (S34). */
const LAST_LINES = 50;
/** One agent that lives here. */
export class Resident implements InProcessAgent {
  readonly request: SpawnRequest;
  readonly shown = new OutputTail();
  readonly controller = new AbortController();
  readonly log: LogFile;
  state: InProcessState = "pending";
  hands: WorkerHands | undefined;
  /** Resolves when its code has returned, whatever was recorded before. */
  done: Promise<void> = Promise.resolve();

  constructor(request: SpawnRequest) {
    this.request = request;
    this.log = openLogFile(request.paths.log);
  }

  get name(): string {
    return this.request.name;
  }

  get color(): string {
    return this.request.color;
  }

  async typed(line: string): Promise<void> {
    await this.hands?.typed(line);
  }

  interrupt(): boolean {
    return this.hands?.interrupt() ?? false;
  }

  write(text: string): void {
    this.shown.write(text);
    this.log.write(stripControls(text));
  }
}

/** What ends one from outside; as a shell says it of a program that this signal ended. */
const KILLED = { SIGTERM: 143, SIGHUP: 129 } as const;
export type EndSignal = keyof typeof KILLED;

/** As a launch script does it: the record first, then whoever waits is rung. */
export function recordEnd({ request, shown, state, controller }: Resident, code: number, at: number): void {
  const { instance, paths, bells } = request;
  const signal: EndSignal = controller.signal.reason === "SIGHUP" ? "SIGHUP" : "SIGTERM";
  const ended: ExitRecord = {
    instance,
    ...(state === "killed" ? { code: KILLED[signal], signal } : { code }),
    at,
    lastLines: redactValue(shown.lines(LAST_LINES).map(stripControls), ownSecrets()),
  };
  // Where its team was deleted meanwhile, nobody asks how it ended.
  try {
    if (isDirectory(paths.run)) replaceFile(paths.exit, formatJson(ended), { sync: false });
  } finally {
    for (const path of [paths.ready, ...bells]) ring(path);
  }
}
