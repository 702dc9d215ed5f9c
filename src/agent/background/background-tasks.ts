import { randomBytes } from "node:crypto";
import { messageOf } from "../../errors.ts";
import { type Clock, pause, systemClock } from "../../os/clock.ts";
import { readTail } from "../../os/files/file-parts.ts";
import { fileSize } from "../../os/files/fs.ts";
import { redactText } from "../../os/redact.ts";
import { shortened, textEnd } from "../../text/characters/cut-text.ts";
import { OutputFile } from "./output-file.ts";

type BackgroundStatus = "running" | "completed" | "failed" | "killed";

/** How a background task ended. */
interface TaskEnd {
  readonly status: Exclude<BackgroundStatus, "running">;
  /** One line for a model: `exit code 1`. */
  readonly how: string;
}

/** Notice that a background task has ended on its own. */
export interface TaskNotice extends TaskEnd {
  readonly taskId: string;
  /** The command, or the purpose of a subagent. */
  readonly what: string;
  readonly outputFile: string;
  /** Returns false once the agent has read the end with TaskOutput or stopped the task: then no notice is needed. */
  isNews(): boolean;
}

/** A task for other processes. */
export interface TaskFacts {
  readonly id: string;
  readonly kind: TaskKind;
  /** The command, or the purpose of a subagent. */
  readonly what: string;
  readonly status: BackgroundStatus;
  /** How it ended; empty while it runs. */
  readonly how: string;
  readonly outputFile: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
}

type TaskKind = "bash" | "agent";

export interface TaskSnapshot {
  readonly status: BackgroundStatus;
  /** How it ended; empty while it runs. */
  readonly how: string;
  readonly what: string;
  readonly outputFile: string;
  /** The newest part of its output. */
  readonly output: string;
  readonly isWhole: boolean;
  /** The output exceeded the limit of its file: only `output` has the newest part. */
  readonly isCut: boolean;
  /** Why the newest output is not in the file yet; undefined if it is. */
  readonly problem: string | undefined;
}

interface Task {
  readonly id: string;
  readonly kind: TaskKind;
  readonly what: string;
  readonly startedAt: number;
  readonly file: OutputFile;
  readonly stop: AbortController;
  /** Never rejects. */
  readonly ended: Promise<TaskEnd>;
  end: TaskEnd | undefined;
  endedAt: number | undefined;
  /** The agent knows the end or gets it as a result: no notice is needed. */
  isEndKnown: boolean;
  /** A person asked for its end. */
  isEndedByPerson: boolean;
}

interface BackgroundOptions {
  readonly cwd: string;
  /** Values to redact in the output (`secretsOf`). */
  readonly secrets: readonly string[];
  /** Maximum characters of one output file. */
  readonly room?: number;
  /** Called for each end that the agent does not know yet. Undefined: the agent must poll. */
  readonly onEnd?: ((notice: TaskNotice) => void) | undefined;
  /** Called with all known tasks when one starts or ends. */
  readonly onChange?: ((tasks: readonly TaskFacts[]) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Maximum tasks that run at once: each is a process or a working model, and a runaway loop is stopped early. */
const MAX_RUNNING = 16;
export const TOO_MANY_TASKS =
  "Too many background tasks are running, so nothing was started. Stop a task with TaskStop first.";
/** Maximum ended tasks whose output can still be read by id. */
const MAX_ENDED = 100;
/** Maximum characters of `what`: the model knows the command, and a person only needs to recognise it. */
const MAX_WHAT = 120;
/** Maximum bytes of output in one answer. */
const MAX_SHOWN = 30_000;

/** Tasks that run while their agent does something else, and end with it. Their output is written to files. */
export class BackgroundTasks {
  readonly #options: BackgroundOptions;
  readonly #tasks = new Map<string, Task>();

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  get running(): number {
    return [...this.#tasks.values()].filter(({ end }) => end === undefined).length;
  }

  /** Returns true if the agent is notified when a task ends. */
  get notifies(): boolean {
    return this.#options.onEnd !== undefined;
  }

  /**
   * Starts a task.
   * @param work ends soon after its signal aborts
   * @returns undefined if too many tasks run
   */
  start(
    kind: TaskKind,
    what: string,
    work: (signal: AbortSignal, file: OutputFile) => Promise<TaskEnd>,
  ): { readonly taskId: string; readonly outputFile: string } | undefined {
    if (this.running >= MAX_RUNNING) return undefined;
    const { cwd, secrets, room } = this.#options;
    const id = `${kind}-${randomBytes(4).toString("hex")}`;
    const file = new OutputFile(cwd, id, secrets, room);
    file.begin();
    const stop = new AbortController();
    const task: Task = {
      id,
      kind,
      startedAt: this.#now(),
      what: shortened(redactText(what, secrets), MAX_WHAT),
      file,
      stop,
      ended: ending(work, stop.signal, file),
      end: undefined,
      endedAt: undefined,
      isEndKnown: false,
      isEndedByPerson: false,
    };
    this.#tasks.set(id, task);
    this.#changed();
    void task.ended.then((end) => this.#ended(task, end));
    return { taskId: id, outputFile: file.path };
  }

  /**
   * Reads the state and output of a task.
   * @param waitMs how long to wait for its end
   * @returns undefined if there is no such task
   */
  async snapshot(id: string, waitMs: number, signal: AbortSignal): Promise<TaskSnapshot | undefined> {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    if (task.end === undefined && waitMs > 0) {
      const waiting = new AbortController();
      // A waiting agent gets the end as the result.
      task.isEndKnown = true;
      await Promise.race([task.ended, pause(waitMs, AbortSignal.any([signal, waiting.signal]))]);
      waiting.abort();
    }
    const { end, file, what } = task;
    file.retry();
    const { newest, unwritten, problem } = file;
    const size = (fileSize(file.path) ?? 0) + unwritten.length;
    task.isEndKnown = end !== undefined;
    return {
      status: end?.status ?? "running",
      how: end?.how ?? "",
      what,
      outputFile: file.path,
      output: newest ?? textEnd(`${readTail(file.path, MAX_SHOWN) ?? ""}${unwritten}`, MAX_SHOWN),
      isWhole: newest === undefined && size <= MAX_SHOWN,
      isCut: newest !== undefined,
      problem,
    };
  }

  /** Stops a task and everything that it started. @returns undefined if there is no such task */
  async stop(id: string): Promise<TaskEnd | undefined> {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    task.isEndKnown = true;
    task.stop.abort();
    return task.ended;
  }

  /** Starts to stop a task for a person. The agent is notified of the end, unless it knows the end already. */
  endForPerson(id: string): void {
    const task = this.#tasks.get(id);
    if (task === undefined || task.end !== undefined) return;
    task.isEndedByPerson = true;
    task.stop.abort();
  }

  /** Stops all tasks without notices, since their agent ends. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#tasks.keys()].map((id) => this.stop(id)));
  }

  #now(): number {
    return (this.#options.clock ?? systemClock).now();
  }

  #changed(): void {
    this.#options.onChange?.([...this.#tasks.values()].map(factsOf));
  }

  #ended(task: Task, ownEnd: TaskEnd): void {
    const isByPerson = task.isEndedByPerson && ownEnd.status === "killed";
    const end = isByPerson ? { ...ownEnd, how: "ended by the user" } : ownEnd;
    task.end = end;
    task.endedAt = this.#now();
    task.file.end();
    for (const [id, { end: done }] of this.#tasks) {
      if (this.#tasks.size <= MAX_RUNNING + MAX_ENDED) break;
      if (done !== undefined) this.#tasks.delete(id);
    }
    this.#changed();
    if (task.isEndKnown) return;
    this.#options.onEnd?.({
      ...end,
      taskId: task.id,
      what: task.what,
      outputFile: task.file.path,
      isNews: () => !task.isEndKnown,
    });
  }
}

function factsOf({ id, kind, what, end, file, startedAt, endedAt }: Task): TaskFacts {
  const { status, how } = end ?? { status: "running", how: "" };
  const facts = { id, kind, what, status, how, outputFile: file.path, startedAt };
  return endedAt === undefined ? facts : { ...facts, endedAt };
}

async function ending(
  work: (signal: AbortSignal, file: OutputFile) => Promise<TaskEnd>,
  signal: AbortSignal,
  file: OutputFile,
): Promise<TaskEnd> {
  try {
    const end = await work(signal, file);
    return signal.aborted ? { ...end, status: "killed" } : end;
  } catch (error) {
    return { status: signal.aborted ? "killed" : "failed", how: messageOf(error) };
  }
}
