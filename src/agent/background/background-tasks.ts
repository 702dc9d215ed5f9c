import { randomBytes } from "node:crypto";
import { messageOf } from "../../errors.ts";
import { pause } from "../../os/clock.ts";
import { fileSize, readTail } from "../../os/files/fs.ts";
import { maskText } from "../../os/redact.ts";
import { OutputFile } from "./output-file.ts";

type BackgroundStatus = "running" | "completed" | "failed" | "killed";

/** How work in the background ended. */
interface TaskEnd {
  readonly status: Exclude<BackgroundStatus, "running">;
  /** One line for a model: `exit code 1`. */
  readonly how: string;
}

/** A piece of work in the background that has ended by itself. */
export interface TaskNotice extends TaskEnd {
  readonly taskId: string;
  /** What it was: the command, or what a subagent was for. */
  readonly what: string;
  readonly outputFile: string;
  /** False once the agent has learned of it by asking: then there is nothing to tell. */
  isNews(): boolean;
}

export interface TaskLook {
  readonly status: BackgroundStatus;
  /** Empty while it runs. */
  readonly how: string;
  readonly what: string;
  readonly outputFile: string;
  /** The newest part of its output. */
  readonly output: string;
  readonly isWhole: boolean;
  /** More came than its file takes: the newest is known here alone. */
  readonly isCut: boolean;
}

interface Task {
  readonly id: string;
  readonly what: string;
  readonly file: OutputFile;
  readonly stop: AbortController;
  /** Never rejects. */
  readonly ended: Promise<TaskEnd>;
  end: TaskEnd | undefined;
  told: boolean;
}

interface BackgroundOptions {
  readonly cwd: string;
  /** Values that are masked in what is written (`secretsOf`). */
  readonly secrets: readonly string[];
  /** Characters of output that one file takes. */
  readonly room?: number;
  /** Told of each end that nobody asked for; without it the agent has to look itself. */
  readonly onEnd?: ((notice: TaskNotice) => void) | undefined;
}

/** Pieces of work that run at once: each is a process or a model at work, and a loop that starts them is soon seen. */
const MAX_RUNNING = 16;
export const TOO_MANY_TASKS =
  "Too much runs in the background already; nothing was started. TaskStop ends what is not needed.";
/** Ended ones that can still be asked for. */
const MAX_ENDED = 100;
/** Characters of what a task is, which its model knows and a person only recognises. */
const MAX_WHAT = 120;
/** Bytes of output in one look. */
const MAX_SHOWN = 30_000;

/** Work that goes on while its agent does something else, and ends with it. What it puts out stands in a file. */
export class BackgroundTasks {
  readonly #options: BackgroundOptions;
  readonly #tasks = new Map<string, Task>();

  constructor(options: BackgroundOptions) {
    this.#options = options;
  }

  get running(): number {
    return [...this.#tasks.values()].filter(({ end }) => end === undefined).length;
  }

  /** Whether its agent is told of an end by itself. */
  get tells(): boolean {
    return this.#options.onEnd !== undefined;
  }

  /**
   * @param work ends soon after its signal aborts
   * @returns undefined where too many run
   */
  start(
    kind: "bash" | "agent",
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
      what: shortened(maskText(what, secrets)),
      file,
      stop,
      ended: ending(work, stop.signal, file),
      end: undefined,
      told: false,
    };
    this.#tasks.set(id, task);
    void task.ended.then((end) => this.#ended(task, end));
    return { taskId: id, outputFile: file.path };
  }

  /**
   * @param waitMs how long to wait for its end
   * @returns undefined where there is no such task
   */
  async look(id: string, waitMs: number, signal: AbortSignal): Promise<TaskLook | undefined> {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    if (task.end === undefined && waitMs > 0) {
      const waiting = new AbortController();
      // Who waits for the end is told by that.
      task.told = true;
      await Promise.race([task.ended, pause(waitMs, AbortSignal.any([signal, waiting.signal]))]);
      waiting.abort();
    }
    const { end, file, what } = task;
    const { newest } = file;
    task.told = end !== undefined;
    return {
      status: end?.status ?? "running",
      how: end?.how ?? "",
      what,
      outputFile: file.path,
      output: newest ?? readTail(file.path, MAX_SHOWN) ?? "",
      isWhole: newest === undefined && (fileSize(file.path) ?? 0) <= MAX_SHOWN,
      isCut: newest !== undefined,
    };
  }

  /** Ends it, with all that it started. @returns undefined where there is no such task */
  async stop(id: string): Promise<TaskEnd | undefined> {
    const task = this.#tasks.get(id);
    if (task === undefined) return undefined;
    task.told = true;
    task.stop.abort();
    return task.ended;
  }

  /** Ends all of them: their agent ends, and nobody is told. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#tasks.keys()].map((id) => this.stop(id)));
  }

  #ended(task: Task, end: TaskEnd): void {
    task.end = end;
    task.file.end();
    for (const [id, { end: done }] of this.#tasks) {
      if (this.#tasks.size <= MAX_RUNNING + MAX_ENDED) break;
      if (done !== undefined) this.#tasks.delete(id);
    }
    if (task.told) return;
    this.#options.onEnd?.({
      ...end,
      taskId: task.id,
      what: task.what,
      outputFile: task.file.path,
      isNews: () => !task.told,
    });
  }
}

function shortened(what: string): string {
  return what.length <= MAX_WHAT ? what : `${what.slice(0, MAX_WHAT)}…`;
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
