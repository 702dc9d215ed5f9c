import { steadyNow } from "../os/clock.ts";
import { outputFilter, RESET_OUTPUT } from "./safe-output.ts";
import type { Timeline, TimelineEvent } from "./timeline.ts";

interface PlayerOptions {
  /** Writes to the terminal. */
  readonly out: (text: string) => void;
  /** Waits until the time has passed, or the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds of a steady clock. */
  readonly now?: () => number;
  readonly speed: number;
  /** Maximum pause in seconds; longer pauses of the recording are shortened. */
  readonly idleLimit: number;
  /** Index of the marker at which to begin. */
  readonly from?: number | undefined;
  /** Called when the player's state changes: it plays, pauses, or has jumped. */
  readonly onChange?: (state: PlayerState) => void;
}

export interface PlayerState {
  readonly isPaused: boolean;
  /** Seconds. */
  readonly time: number;
  /** The last marker. */
  readonly label: string | undefined;
}

/** An empty screen of the same terminal. */
const EMPTY_SCREEN = `${RESET_OUTPUT}\x1b[2J\x1b[H`;
/** Events that a jump applies between two reads of the keys. */
const JUMP_EVENTS = 500;
/** Seconds after a marker within which "previous" means the one before it. */
const AT_MARKER = 1;

type Command = { readonly kind: "marker"; readonly index: number } | { readonly kind: "step" };

/** Plays a timeline in real time. Its methods may be called while it plays. */
export class Player {
  readonly #timeline: Timeline;
  readonly #options: PlayerOptions;
  readonly #now: () => number;
  #events: Generator<TimelineEvent>;
  #filter = outputFilter();
  #next: TimelineEvent | undefined;
  #time = 0;
  /** Number of markers played so far. */
  #passed = 0;
  #isPaused = false;
  #isOver = false;
  #commands: Command[] = [];
  #wake = new AbortController();

  constructor(timeline: Timeline, options: PlayerOptions) {
    this.#timeline = timeline;
    this.#options = options;
    this.#now = options.now ?? steadyNow;
    this.#events = timeline.events();
    if (options.from !== undefined) this.#enqueue({ kind: "marker", index: options.from });
  }

  /** Plays until the end, or until it is stopped. */
  async play(): Promise<void> {
    this.#take();
    let due = this.#dueAfter(this.#now());
    for (;;) {
      const command = this.#isOver ? undefined : this.#commands.shift();
      if (command !== undefined) {
        await this.#execute(command);
        due = this.#dueAfter(this.#now());
        continue;
      }
      if (this.#isOver || this.#next === undefined) return;
      const left = due - this.#now();
      if (this.#isPaused) {
        await this.#wait(undefined);
        due = this.#now() + Math.max(0, left);
      } else if (left > 0) await this.#wait(left);
      else {
        this.#apply();
        due = this.#dueAfter(due);
      }
    }
  }

  togglePause(): void {
    this.#isPaused = !this.#isPaused;
    this.#changed();
  }

  /** Pauses, and shows the next output. */
  step(): void {
    this.#isPaused = true;
    this.#enqueue({ kind: "step" });
  }

  nextMarker(): void {
    if (this.#passed < this.#timeline.markers.length) this.#enqueue({ kind: "marker", index: this.#passed });
  }

  previousMarker(): void {
    const last = this.#timeline.markers[this.#passed - 1];
    const isAtLast = last !== undefined && this.#time - last.time < AT_MARKER;
    this.#enqueue({ kind: "marker", index: this.#passed - (isAtLast ? 2 : 1) });
  }

  stop(): void {
    this.#isOver = true;
    this.#wake.abort();
  }

  #enqueue(command: Command): void {
    this.#commands.push(command);
    this.#wake.abort();
  }

  #changed(): void {
    this.#wake.abort();
    const label = this.#timeline.markers[this.#passed - 1]?.label;
    this.#options.onChange?.({ isPaused: this.#isPaused, time: this.#time, label });
  }

  async #execute(command: Command): Promise<void> {
    if (command.kind === "step") {
      while (this.#next !== undefined && this.#apply() !== "o");
    } else await this.#jump(command.index);
    this.#changed();
  }

  /** Shows the screen at a marker; before the first one, the beginning. */
  async #jump(index: number): Promise<void> {
    if (index < this.#passed) {
      this.#options.out(EMPTY_SCREEN);
      this.#events = this.#timeline.events();
      this.#filter = outputFilter();
      this.#passed = 0;
      this.#time = 0;
      this.#take();
    }
    for (let count = 1; this.#passed <= index && this.#next !== undefined && !this.#isOver; count += 1) {
      this.#apply();
      // Keys are read in between.
      if (count % JUMP_EVENTS === 0) await this.#options.pause(0, new AbortController().signal);
    }
  }

  async #wait(ms: number | undefined): Promise<void> {
    this.#wake = new AbortController();
    const { signal } = this.#wake;
    if (ms !== undefined) await this.#options.pause(ms, signal);
    else
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  #dueAfter(from: number): number {
    const { speed, idleLimit } = this.#options;
    const gap = Math.max(0, (this.#next?.time ?? 0) - this.#time);
    return from + (Math.min(gap, idleLimit) * 1000) / speed;
  }

  #apply(): TimelineEvent["code"] | undefined {
    const event = this.#next;
    if (event === undefined) return undefined;
    this.#time = event.time;
    if (event.code === "o") this.#options.out(this.#filter.push(event.data));
    else if (event.code === "m") this.#passed += 1;
    else if (event.code === "start") {
      this.#filter = outputFilter();
      this.#options.out(EMPTY_SCREEN);
    }
    this.#take();
    return event.code;
  }

  #take(): void {
    const { value, done } = this.#events.next();
    this.#next = done === true ? undefined : value;
  }
}
