import { isDirectory } from "../os/fs.ts";
import { type LogFile, openLogFile } from "../os/own-log.ts";
import { replaceFile } from "../os/replace.ts";
import { maskValue, ownSecrets } from "../os/secrets.ts";
import { stripControls } from "../os/terminal-text.ts";
import type { ExitRecord } from "../schema/status.ts";
import { formatJson } from "../store/format-json.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import type { SpawnRequest } from "./backend.ts";
import type { InProcessState } from "./in-process-states.ts";
import type { WorkerHands } from "./in-process-worker.ts";
import { Shown } from "./shown.ts";

/** A teammate that lives in this process, for whoever shows it. */
export interface InProcessAgent {
  readonly name: string;
  readonly color: string;
  readonly state: InProcessState;
  /** What it has shown last. */
  readonly shown: Shown;
  /** A person's line, as if typed in its pane. */
  typed(line: string): Promise<void>;
  interrupt(): boolean;
}

/** Lines of its end that are kept for the lead (S34). */
const LAST_LINES = 50;
/** One agent that lives here. */
export class Resident implements InProcessAgent {
  readonly request: SpawnRequest;
  readonly shown = new Shown();
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
    lastLines: maskValue(shown.lines(LAST_LINES).map(stripControls), ownSecrets()),
  };
  // Where its team was deleted meanwhile, nobody asks how it ended.
  try {
    if (isDirectory(paths.run)) replaceFile(paths.exit, formatJson(ended), { sync: false });
  } finally {
    for (const path of [paths.ready, ...bells]) ring(path);
  }
}
