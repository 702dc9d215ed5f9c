import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { type LogFile, openLogFile } from "../../os/files/capped-log.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { ownSecrets, redactValue } from "../../os/redact.ts";
import type { AgentState, ExitRecord } from "../../schema/status.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { ring } from "../../wakeup/fifo-bell.ts";
import type { SpawnRequest } from "../backend.ts";
import type { InProcessState } from "./states.ts";

/** Maximum output lines kept in memory: about two dozen screens. The conversation on disk has the rest. */
const MAX_LINES = 1_000;

/** The last output lines of an agent that has no terminal. */
export class OutputLines {
  #lines: string[] = [""];

  write(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    const last = `${this.#lines.pop() ?? ""}${first}`;
    this.#lines = [...this.#lines, last, ...rest].slice(-MAX_LINES);
  }

  /** Returns the last lines, oldest first, without a final line that is still empty. */
  lines(max: number = MAX_LINES): string[] {
    const lines = this.#lines.at(-1) === "" ? this.#lines.slice(0, -1) : this.#lines;
    return lines.slice(-max);
  }
}

/** Input for a worker from its own process, besides its inbox: the keys that the user presses in its view. */
export interface WorkerInput {
  /** Passes on a line of the user, as if it were typed in the worker's pane. */
  typed(line: string, begun: number): Promise<void>;
  /** Interrupts the running turn. @returns whether a turn was running */
  interrupt(): boolean;
  /** Returns the id of the open request that this key answers; undefined if there is none. */
  answers(char: string): string | undefined;
  answer(char: string): void;
  /** Changes its permission mode to the next one. */
  nextMode(): void;
  /** Shows more of a shortened result. */
  expand(): void;
  /** Returns the suggestions for a word of its input line. */
  complete(word: string, command: string | undefined, more: () => void): readonly CompletedWord[];
}

interface CompletedWord {
  readonly insert: string;
  readonly label: string;
  readonly note?: string;
  readonly runs?: boolean;
}

/** One start of a worker in this process. */
export interface WorkerStart {
  readonly request: SpawnRequest;
  /** Aborts to end the worker; the reason is the name of the signal. */
  readonly signal: AbortSignal;
  /** Writes to the output that replaces its terminal. */
  write(text: string): void;
  /** Reports its state. */
  reportState(state: AgentState): void;
  /** Registers where typed lines and interrupts go. */
  connect(input: WorkerInput): void;
  /** True once the agent counts as ended for the other processes; it must no longer write files. */
  isOver(): boolean;
}

/** Runs a worker until it ends. @returns the exit code that a separate process would have */
export type RunWorker = (start: WorkerStart) => Promise<number>;

/** A teammate in this process, as the screen shows it. */
export interface InProcessAgent {
  /** Undefined until it runs. */
  readonly input: WorkerInput | undefined;
  readonly name: string;
  readonly color: string;
  readonly state: InProcessState;
  readonly output: OutputLines;
}

/** Maximum output lines in the exit record, for the lead (S34). */
const LAST_LINES = 50;

/** One agent in this process, with its state, output and log. */
export class Resident implements InProcessAgent {
  readonly request: SpawnRequest;
  readonly output = new OutputLines();
  readonly controller = new AbortController();
  readonly log: LogFile;
  state: InProcessState = "pending";
  input: WorkerInput | undefined;
  /** Resolves when its code has returned, even if its end was recorded earlier. */
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

  write(text: string): void {
    this.output.write(text);
    this.log.write(stripControls(text));
  }
}

/** Exit codes by signal, as a shell reports a program that the signal killed. */
const KILLED = { SIGTERM: 143, SIGHUP: 129 } as const;
export type EndSignal = keyof typeof KILLED;

/** Writes the exit record, then rings all waiting processes, in the order of the launch script. */
export function recordEnd({ request, output, state, controller }: Resident, code: number, at: number): void {
  const { instance, paths, bells } = request;
  const signal: EndSignal = controller.signal.reason === "SIGHUP" ? "SIGHUP" : "SIGTERM";
  const record: ExitRecord = {
    instance,
    ...(state === "killed" ? { code: KILLED[signal], signal } : { code }),
    at,
    lastLines: redactValue(output.lines(LAST_LINES).map(stripControls), ownSecrets()),
  };
  // A missing directory means a deleted team: no process needs the record.
  try {
    if (isDirectory(paths.run)) replaceFile(paths.exit, formatJson(record), { sync: false });
  } finally {
    for (const path of [paths.ready, ...bells]) ring(path);
  }
}
