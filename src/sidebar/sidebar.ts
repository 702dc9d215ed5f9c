import { messageOf, TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import type { Bell } from "../wakeup/bell.ts";
import type { SidebarData } from "./data.ts";
import { DocumentFeed } from "./document-feed.ts";
import type { LineComment, OpenDocument, Source } from "./documents.ts";
import { newFailures, withFailures } from "./failures.ts";
import { actionOf } from "./keys.ts";
import { settled } from "./press.ts";
import { pasted, withoutComments } from "./prompts.ts";
import { type GridScreen, openScreen } from "./screen.ts";
import type { Line } from "./spans.ts";
import {
  type Answer,
  backToList,
  type Change,
  type Effect,
  type MemberAction,
  type SidebarState,
  START,
  type Step,
  withoutNotice,
} from "./state.ts";
import { click, press, typed, withContent } from "./step.ts";
import { frame } from "./view-model.ts";
import { asciiContent, asciiData } from "./views/ascii-request.ts";

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
  /** The terminal shows no UTF-8. */
  readonly ascii?: boolean;
  /** Closes the sidebar from outside. */
  readonly signal?: AbortSignal;
}

/** The user's actions. Each returns a sentence with the result, if there is one; the message of a thrown error is shown as a failure. */
export interface SidebarActions {
  readonly member: Readonly<Record<MemberAction, (member: string) => Promise<string | undefined>>>;
  answer(answer: Answer): Promise<string>;
  message(to: string, text: string): Promise<string | undefined>;
  /** Sends comments on a member's changes as one message. */
  comments(member: string, comments: readonly LineComment[]): Promise<string>;
  spawn(name: string, prompt: string): Promise<string>;
  open(source: Source): OpenDocument | Promise<OpenDocument>;
}

/** Closed by the user or the signal, ended because the team was deleted, or to show another team. */
type SidebarEnd =
  | { readonly kind: "closed" | "team-gone" }
  | { readonly kind: "other-team"; readonly team: string };

/** The text that is shown until a long action has its result. */
const STARTED: Readonly<Partial<Record<MemberAction, string>>> = {
  interrupt: "interrupting",
  shutdown: "shutting down",
  kill: "killing",
};

/** Minimum milliseconds between two reads; rings in between are merged. A user cannot follow more than ten redraws a second. */
const GAP_MS = 100;
/** Maximum milliseconds between two reads. */
const MAX_GAP_MS = 500;
/** The share of a processor that drawing may take. A large busy team draws less often instead. */
const SHARE = 0.04;

/**
 * Draws the sidebar into this process's terminal until it is closed. Draws on a ring, a key and a resize, never on a timer.
 * Closing it loses nothing but the text that the user has written and not sent.
 */
export async function runSidebar(options: SidebarOptions): Promise<SidebarEnd> {
  const screen = await openScreen(options);
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
  readonly #documents: DocumentFeed;
  #state: SidebarState = START;
  #data: SidebarData | undefined;
  #lines: readonly Line[] = [];
  #otherTeam: string | undefined;
  /** When each request that is shown to its end appeared, by id, in milliseconds of the steady clock. */
  #appeared: ReadonlyMap<string, number> = new Map();

  constructor(options: SidebarOptions, screen: GridScreen) {
    this.#options = options;
    this.#screen = screen;
    this.#documents = new DocumentFeed({
      open: (source) => options.act.open(source),
      read: (source, content) => {
        const shown = options.ascii ? asciiContent(content) : content;
        this.#change((state) => withContent(state, source, shown));
      },
      failed: (source, error) => this.#documentFailed(source, error),
    });
    screen.onKey((key, char) => this.#onKey(key, char));
    screen.onPaste((text) => this.#take(pasted(this.#state, text)));
    screen.onMouse((event, row) => this.#onMouse(event, row));
    screen.onResize(() => {
      this.#draw();
      void this.#documents.resized(this.#documentWidth());
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
        if (!(await this.#reload())) return { kind: "team-gone" };
        const { user, system } = process.cpuUsage(before);
        before = process.cpuUsage();
        await pause(gapAfter((user + system) / 1000), signal);
        // A closed bell never rings again: the sidebar would show outdated data.
        if ((await changed.wait({ signal })) === "aborted") break;
      }
      const team = this.#otherTeam;
      return team === undefined ? { kind: "closed" } : { kind: "other-team", team };
    } finally {
      outside?.removeEventListener("abort", close);
      this.#documents.close();
    }
  }

  /** Reads and draws. @returns false if the team is gone */
  async #reload(): Promise<boolean> {
    try {
      const before = this.#data;
      const loaded = await this.#options.load();
      const data = this.#options.ascii ? asciiData(loaded) : loaded;
      this.#data = data;
      this.#change((state) => withFailures(settled(state, data), newFailures(before, data)));
      await this.#documents.dataChanged();
    } catch (error) {
      if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return false;
      this.#fail(error);
    }
    return true;
  }

  #onKey(key: string, char: string | undefined): void {
    const size = this.#screen.size();
    if (this.#state.prompt !== undefined) {
      this.#take(typed(this.#state, { name: key, char }, this.#data ?? NOTHING, size));
      return;
    }
    const action = actionOf(key, this.#state.view);
    if (action === undefined) return;
    if (this.#data === undefined) {
      if (action === "close") this.#closing.abort();
      return;
    }
    const now = steadyNow();
    const seen = new Map([...this.#appeared].map(([id, since]) => [id, now - since]));
    this.#take(press(this.#state, action, this.#data, seen, size));
  }

  #onMouse(event: "press" | "wheel-up" | "wheel-down", row: number): void {
    if (this.#data === undefined || this.#state.prompt !== undefined) return;
    const size = this.#screen.size();
    if (event !== "press") {
      this.#take(press(this.#state, event === "wheel-up" ? "up" : "down", this.#data, new Map(), size));
      return;
    }
    const target = this.#lines[row]?.target;
    if (target !== undefined) this.#take(click(this.#state, target, this.#data, size));
  }

  #take({ state, effect }: Step): void {
    this.#state = state;
    this.#documents.keepOnly(state.reader?.source);
    if (effect !== undefined) this.#begin(effect);
    this.#draw();
  }

  #begin(effect: Effect): void {
    const { act } = this.#options;
    switch (effect.kind) {
      case "close":
        this.#closing.abort();
        return;
      case "team":
        this.#otherTeam = effect.team;
        this.#closing.abort();
        return;
      case "open":
        void this.#documents.open(effect.source, this.#documentWidth());
        return;
      case "member": {
        const { action, member } = effect;
        const started = STARTED[action];
        const notice = started === undefined ? undefined : `${started} ${member} …`;
        void this.#act(() => act.member[action](member), notice);
        return;
      }
      case "answer":
        void this.#act(() => act.answer(effect.answer));
        return;
      case "message":
        void this.#act(() => act.message(effect.to, effect.text));
        return;
      case "spawn": {
        const { kind: _, ...unstarted } = effect;
        const failed: Change = (state) => ({ ...state, unstarted });
        void this.#act(() => act.spawn(effect.name, effect.prompt), `starting ${effect.name} …`, failed);
        return;
      }
      case "comments":
        void this.#act(async () => {
          const { member, comments } = effect;
          const sent = await act.comments(member, comments);
          this.#change((state) => withoutComments(state, member, comments));
          return sent;
        });
    }
  }

  /** @param started what is shown until the result; the notice of a later action stays */
  async #act(work: () => Promise<string | undefined>, started?: string, failed?: Change): Promise<void> {
    if (started !== undefined) this.#state = { ...this.#state, notice: started };
    const ended: Change = (state) => (state.notice === started ? withoutNotice(state) : state);
    try {
      const notice = await work();
      this.#change((state) => (notice === undefined ? ended(state) : { ...state, notice }));
    } catch (error) {
      this.#change((state) => (failed === undefined ? ended(state) : failed(ended(state))));
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#change((state) => withFailures(state, [failureText(error)]));
  }

  /** Goes back from a document that cannot be read at all. */
  #documentFailed(source: Source, error: unknown): void {
    const { reader } = this.#state;
    if (reader?.source === source && reader.content === undefined) this.#change(backToList);
    this.#fail(error);
  }

  #change(next: Change): void {
    this.#state = next(this.#state);
    this.#draw();
  }

  /** The screen's columns, except the column of the selection mark. */
  #documentWidth(): number {
    return Math.max(1, this.#screen.size().width - 1);
  }

  #draw(): void {
    if (this.#closing.signal.aborted) return;
    const size = this.#screen.size();
    const data = this.#data ?? NOTHING;
    this.#lines = frame(data, this.#state, size);
    const whole = this.#lines.flatMap(({ wholeRequest }) => wholeRequest ?? []);
    this.#appeared = new Map(whole.map((id) => [id, this.#appeared.get(id) ?? steadyNow()]));
    this.#screen.draw(this.#lines);
  }
}

/** The message of an error, and what to do about it. */
function failureText(error: unknown): string {
  const { hint } = error instanceof TeamError ? error : {};
  return hint === undefined ? messageOf(error) : `${messageOf(error)} ${hint}`;
}

/** @param cpuMs processor time of the last read and drawing */
function gapAfter(cpuMs: number): number {
  return Math.min(MAX_GAP_MS, Math.max(GAP_MS, cpuMs / SHARE));
}

/** Shown with the error if the first read failed: an empty team. */
const NOTHING: SidebarData = {
  status: { team: "", members: [], tasks: { list: [] }, approvals: [] },
  messages: [],
};
