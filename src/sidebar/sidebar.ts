import { messageOf, TeamError } from "../errors.ts";
import { pause } from "../os/clock.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { SidebarData } from "./data.ts";
import { actionOf } from "./keys.ts";
import { type GridScreen, openScreen } from "./screen.ts";
import type { Line } from "./spans.ts";
import { type Answer, click, press, type SidebarState, START, type Step, write } from "./state.ts";
import { frame } from "./view-model.ts";

interface SidebarOptions {
  /** Reads the data. TEAM_NOT_FOUND ends the sidebar; other errors are shown, and the next ring tries again. */
  load(): Promise<SidebarData>;
  /** Rings when data of `load` may have changed. Already subscribed; the sidebar closes it. */
  readonly changed: Bell;
  readonly act: SidebarActions;
  /** Called after a resize, when the sidebar is redrawn. */
  resized?(): void;
  /** Off for NO_COLOR. */
  readonly color: boolean;
  /** Closes the sidebar from outside. */
  readonly signal?: AbortSignal;
}

/** The user's actions. The message of a thrown error is shown in the bottom line. */
interface SidebarActions {
  /** Shows a member's pane. @returns a sentence with the alternative if it cannot */
  focus(member: string): Promise<string | undefined>;
  /** Hides a member's pane, or shows it again. @returns a sentence with the result */
  hide(member: string): Promise<string>;
  /** Answers a request. @returns a sentence with the result */
  answer(answer: Answer): Promise<string>;
}

/** Closed by the user or the signal, or because the team was deleted. */
type SidebarEnd = "closed" | "team-gone";

/** Minimum milliseconds between two reads; rings in between are merged. A user cannot follow more than ten drawings a second. */
const GAP_MS = 100;
/** Maximum milliseconds between two reads. */
const MAX_GAP_MS = 500;
/** The share of a processor that drawing may take. A large busy team draws less often instead. */
const SHARE = 0.04;

/**
 * Draws the sidebar into this process's terminal until it is closed. Draws on a ring, a key and a resize, never on a timer.
 * Keeps no state that closing it would lose.
 */
export async function runSidebar(options: SidebarOptions): Promise<SidebarEnd> {
  const screen = await openScreen({ color: options.color });
  const controller = new Controller(options, screen);
  try {
    return await controller.run();
  } finally {
    screen.close();
    options.changed.close();
  }
}

class Controller {
  readonly #options: SidebarOptions;
  readonly #screen: GridScreen;
  readonly #closing = new AbortController();
  #state: SidebarState = START;
  #data: SidebarData | undefined;
  #lines: readonly Line[] = [];

  constructor(options: SidebarOptions, screen: GridScreen) {
    this.#options = options;
    this.#screen = screen;
    screen.onKey((key, char) => this.#onKey(key, char));
    screen.onMouse((event, row) => this.#onMouse(event, row));
    screen.onResize(() => {
      this.#draw();
      options.resized?.();
    });
  }

  async run(): Promise<SidebarEnd> {
    const close = (): void => this.#closing.abort();
    const { signal: outside, changed } = this.#options;
    if (outside?.aborted) close();
    outside?.addEventListener("abort", close, { once: true });
    const { signal } = this.#closing;
    try {
      let before = process.cpuUsage();
      while (!signal.aborted) {
        if (!(await this.#reload())) return "team-gone";
        const { user, system } = process.cpuUsage(before);
        before = process.cpuUsage();
        await pause(gapAfter((user + system) / 1000), signal);
        // A closed bell never rings again: the sidebar would show outdated data.
        if ((await changed.wait({ signal })) === "aborted") break;
      }
      return "closed";
    } finally {
      outside?.removeEventListener("abort", close);
    }
  }

  /** Reads and draws. @returns false if the team is gone */
  async #reload(): Promise<boolean> {
    try {
      this.#data = await this.#options.load();
      this.#draw();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return false;
      this.#notify(messageOf(error));
    }
    return true;
  }

  #onKey(key: string, char: string | undefined): void {
    if (this.#state.answer !== undefined) {
      this.#take(write(this.#state, key, char));
      return;
    }
    const action = actionOf(key);
    if (action === undefined) return;
    if (this.#data === undefined) {
      if (action === "close") this.#closing.abort();
      return;
    }
    this.#take(press(this.#state, action, this.#data));
  }

  #onMouse(event: "press" | "wheel-up" | "wheel-down", row: number): void {
    if (this.#data === undefined) return;
    if (event !== "press") {
      this.#take(press(this.#state, event === "wheel-up" ? "up" : "down", this.#data));
      return;
    }
    const target = this.#lines[row]?.target;
    if (target !== undefined) this.#take(click(this.#state, target, this.#data));
  }

  #take({ state, effect }: Step): void {
    this.#state = state;
    if (effect?.kind === "close") this.#closing.abort();
    else this.#draw();
    const { act } = this.#options;
    if (effect?.kind === "answer") void this.#act(() => act.answer(effect.answer));
    if (effect?.kind === "focus" || effect?.kind === "hide") {
      void this.#act(() => act[effect.kind](effect.member));
    }
  }

  async #act(work: () => Promise<string | undefined>): Promise<void> {
    try {
      const outcome = await work();
      if (outcome !== undefined) this.#notify(outcome);
    } catch (error) {
      this.#notify(messageOf(error));
    }
  }

  #notify(notice: string): void {
    this.#state = { ...this.#state, notice };
    this.#draw();
  }

  #draw(): void {
    if (this.#closing.signal.aborted) return;
    const size = this.#screen.size();
    const data = this.#data ?? NOTHING;
    this.#lines = frame(data, this.#state, size);
    this.#screen.draw(this.#lines);
  }
}

/** @param cpuMs what the last read and drawing cost */
function gapAfter(cpuMs: number): number {
  return Math.min(MAX_GAP_MS, Math.max(GAP_MS, cpuMs / SHARE));
}

/** Shown with the error if the first read failed: an empty team. */
const NOTHING: SidebarData = {
  status: { team: "", members: [], tasks: { list: [] }, approvals: [] },
  messages: [],
};
