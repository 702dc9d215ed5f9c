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
  /** Reads what is to be shown. TEAM_NOT_FOUND ends the sidebar; any other failure is shown and the next ring tries again. */
  load(): Promise<SidebarData>;
  /** Rings when something that `load` reads may have changed; it is subscribed already, and the sidebar closes it. */
  readonly changed: Bell;
  readonly act: SidebarActions;
  /** The terminal has another size; it is drawn for that already. */
  resized?(): void;
  /** Off for NO_COLOR. */
  readonly color: boolean;
  /** Closes the sidebar from outside. */
  readonly signal?: AbortSignal;
}

/** What a person can do from the sidebar. What one of them throws is shown in its bottom line. */
interface SidebarActions {
  /** Shows a member's pane to the person; where it cannot, a sentence that says what to do instead. */
  focus(member: string): Promise<string | undefined>;
  /** Hides a member's pane, or shows it again; a sentence that says which. */
  hide(member: string): Promise<string>;
  /** Answers what waits; a sentence that says what became of it. */
  answer(answer: Answer): Promise<string>;
}

/** How it ended: by a person or the signal, or because the team is no more. */
type SidebarEnd = "closed" | "team-gone";

/** Between two readings; a burst of rings within it is one. Ten drawings a second are more than anybody reads. */
const GAP_MS = 100;

/**
 * Draws the sidebar into this process's terminal until it is closed. It draws on a ring, on a key and on a new size, and
 * never on a timer; it keeps nothing that closing it would lose.
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
      while (!signal.aborted) {
        if (!(await this.#reload())) return "team-gone";
        await pause(GAP_MS, signal);
        // A bell that somebody closed rings no more: the sidebar would show old news.
        if ((await changed.wait({ signal })) === "aborted") break;
      }
      return "closed";
    } finally {
      outside?.removeEventListener("abort", close);
    }
  }

  /** Reads and draws; false when the team is gone. */
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

/** Shown when the first reading failed: an empty team and the reason. */
const NOTHING: SidebarData = {
  status: { team: "", members: [], tasks: { list: [] }, approvals: [] },
  messages: [],
};
