import { TeamError } from "../../errors.ts";
import type { ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { steadyNow } from "../../os/clock.ts";
import { keyDecoder, type Pressed } from "../../terminal/input/key-decoder.ts";
import type { KeyHandler } from "../../terminal/input/read-keys.ts";
import { NoteLine } from "./note-line.ts";
import { type Action, type KeyAnswer, keyActions, type ShownRequest } from "./view-keys.ts";

/** An open request. */
interface Listed {
  /** Identifies it among the requests of all teams. */
  readonly key: string;
  /** When it was opened, in milliseconds since the epoch. */
  readonly at: number;
}

/** The data and the actions of the view. */
export interface ViewActions {
  /** Lists the open requests, oldest first. */
  list(): Promise<readonly Listed[]>;
  /** @returns undefined if the request is closed, or never existed */
  details(key: string): Promise<ApprovalDetails | undefined>;
  /**
   * @returns the outcome, in one line
   * @throws TeamError if the answer does not count, or counts only in part
   */
  answer(key: string, answer: KeyAnswer): Promise<string>;
  /** The view has changed: draw it. */
  changed(): void;
  problem(error: unknown): void;
  quit(how: "key" | "interrupt"): void;
}

/** A user cannot read a request within these milliseconds: an earlier key was meant for the previous request. */
const READING_MS = 300;
const NEW_NOTICE = "This request has just appeared: read it first.";
const PART_NOTICE = "Part of the request is not shown yet.";
const SENDING_NOTICE = "The answer is being sent.";
const BUSY_NOTICE = "The previous answer is still being sent: press the key again.";

/** The waiting requests, one at a time: the shown one, how much of it was seen, and the actions of keys. */
export class ApprovalsView implements KeyHandler {
  readonly note = new NoteLine();
  /** The result of the last key. */
  notice: string | undefined;
  /** The first row of the request on the screen. */
  top = 0;
  /** The open requests, and the shown one's place among them. */
  open: readonly Listed[] = [];
  shown: ShownRequest | undefined;
  readonly #act: ViewActions;
  readonly #now: () => number;
  readonly #decoder = keyDecoder();
  #wanted: string | undefined;
  /** How many rows from the first one were on the screen. */
  #seen = 0;
  #rows = 0;
  #height = 1;
  #layout = "";
  #shownAt = 0;
  /** The request that is being answered. */
  #answering: string | undefined;
  /** Whether the last key was an answer: in an agent's pane, Enter follows it. */
  #isAfterAnswer = false;
  #loading: Promise<void> = Promise.resolve();

  /** @param first the key of the request to begin with; by default the oldest */
  constructor(act: ViewActions, first?: string, now = steadyNow) {
    this.#act = act;
    this.#wanted = first;
    this.#now = now;
  }

  /** Reads the requests again. A closed request stays on the screen until the user leaves it. */
  reload(): Promise<void> {
    // One at a time: an older reading would bring back a request that the user has left.
    const loaded = this.#loading.then(() => this.#load());
    // The caller gets the error.
    this.#loading = loaded.catch(() => undefined);
    return loaded;
  }

  async #load(): Promise<void> {
    this.open = await this.#act.list();
    const target = this.#wanted ?? this.shown?.key;
    this.#wanted = undefined;
    if (target !== undefined) await this.#show(target);
    const [oldest] = this.open;
    if (this.shown === undefined && oldest !== undefined) await this.#show(oldest.key);
    this.#act.changed();
  }

  /** Sets the number of rows of the shown request, and of the rows that fit; counts the visible rows as seen. */
  lay(layout: string, rows: number, height: number): void {
    if (layout !== this.#layout) {
      this.#layout = layout;
      this.#seen = 0;
      this.top = 0;
    }
    this.#rows = rows;
    this.#height = height;
    this.top = Math.max(0, Math.min(this.top, rows - height));
    if (this.top <= this.#seen) this.#seen = Math.max(this.#seen, Math.min(rows, this.top + height));
  }

  /** How many rows of the shown request were not on the screen yet. */
  get unseen(): number {
    return this.#rows - this.#seen;
  }

  get isScrollable(): boolean {
    return this.#rows > this.#height;
  }

  push(text: string): void {
    if (this.note.isOpen) {
      this.notice = undefined;
      this.#afterNote(this.note.push(text));
    } else {
      for (const pressed of this.#decoder.push(text)) {
        this.#press(pressed);
        // Drop the other keys of this read: they are for the note, and must not answer.
        if (this.note.isOpen) break;
      }
    }
    this.#act.changed();
  }

  get isPending(): boolean {
    return this.note.isOpen ? this.note.isPending : this.#decoder.isPending;
  }

  settle(): void {
    if (this.note.isOpen) this.#afterNote(this.note.settle());
    else for (const pressed of this.#decoder.settle()) this.#press(pressed);
    this.#act.changed();
  }

  #press(pressed: Pressed): void {
    // Pasted text does not answer a request.
    if (pressed.kind === "text" && pressed.pasted) return;
    const isAfterAnswer = this.#isAfterAnswer;
    this.#isAfterAnswer = false;
    // This Enter would begin a note for the next request.
    if (isAfterAnswer && pressed.kind === "enter") return;
    const actions = keyActions(pressed, this.shown);
    for (const { action, rest } of actions) {
      // Several keys at once were typed ahead, or repeated: they scroll and select, but do not answer.
      if (actions.length > 1 && isAnswer(action)) continue;
      this.#do(action);
      if (!this.note.isOpen) continue;
      // The note has begun: the next keys belong to it.
      if (rest !== "") this.note.push(rest);
      return;
    }
  }

  #do(action: Action): void {
    this.notice = undefined;
    switch (action.kind) {
      case "quit":
        this.#act.quit("key");
        break;
      case "interrupt":
        this.#act.quit("interrupt");
        break;
      case "scroll":
        this.top += action.by === "page" ? Math.max(1, this.#height - 1) * action.sign : action.sign;
        break;
      case "end":
        this.top = action.to === "first" ? 0 : this.#rows;
        break;
      case "select":
        this.#select(action.step);
        break;
      case "note":
        this.note.open();
        break;
      case "answer":
        this.#isAfterAnswer = true;
        this.#answer(action.answer);
        break;
    }
  }

  #afterNote(ended: "sent" | "cancelled" | undefined): void {
    const { details } = this.shown ?? {};
    // The note of a question is its answer; the note of another request is sent with the answer key.
    if (ended !== "sent" || details?.kind !== "question" || this.note.text === "") return;
    if (this.#isNew) {
      // The next Enter sends it.
      this.note.open();
      this.notice = NEW_NOTICE;
    } else this.#answer({ approve: true, note: this.note.text });
  }

  /** Whether the shown request is too new to be read. */
  get #isNew(): boolean {
    return this.#now() - this.#shownAt < READING_MS;
  }

  #answer(answer: KeyAnswer): void {
    const { shown } = this;
    if (shown === undefined || shown.isClosed) return;
    if (this.#answering !== undefined) {
      this.notice = this.#answering === shown.key ? SENDING_NOTICE : BUSY_NOTICE;
      return;
    }
    if (this.#isNew) {
      this.notice = NEW_NOTICE;
      return;
    }
    if (answer.approve && this.unseen > 0) {
      this.top = Math.max(0, this.#seen - (this.#height > 1 ? 1 : 0));
      this.notice = PART_NOTICE;
      return;
    }
    const { key } = shown;
    const note = answer.note ?? this.note.text;
    const next = this.#neighbour(1);
    this.#answering = key;
    this.#act
      .answer(key, { ...answer, ...(note === "" ? {} : { note }) })
      .then(
        (done) => {
          this.notice = done;
          // The user may have selected another request meanwhile, and be writing a note to it.
          if (this.shown?.key !== key) return;
          this.shown = undefined;
          this.note.clear();
          // A key may have selected another request already.
          this.#wanted ??= next === key ? undefined : next;
        },
        (error: unknown) => {
          // The request and its note stay: the user may answer again.
          if (!(error instanceof TeamError)) throw error;
          this.notice = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
        },
      )
      .finally(() => {
        this.#answering = undefined;
      })
      .then(() => this.reload())
      .catch(this.#act.problem);
  }

  #select(step: 1 | -1): void {
    const next = this.#neighbour(step);
    if (next === undefined || next === this.shown?.key) return;
    this.#wanted = next;
    this.reload().catch(this.#act.problem);
  }

  /** Returns the request after or before the shown one, cyclically; a closed request keeps its place in the order of times. */
  #neighbour(step: 1 | -1): string | undefined {
    const { open, shown } = this;
    if (shown === undefined) return open[0]?.key;
    const place = open.findIndex(({ key }) => key === shown.key);
    const later = open.findIndex(({ at }) => at > shown.details.at);
    const from = place !== -1 ? place + step : step === 1 ? Math.max(0, later) : Math.max(-1, later - 1);
    return open.at(from % Math.max(1, open.length))?.key;
  }

  async #show(key: string): Promise<void> {
    const isNew = key !== this.shown?.key;
    const details = await this.#act.details(key);
    if (isNew) {
      this.note.clear();
      this.#layout = "";
      this.#shownAt = this.#now();
    }
    if (details !== undefined) this.shown = { key, details, isClosed: details.answer !== undefined };
    else if (isNew) this.shown = undefined;
    else if (this.shown !== undefined) this.shown = { ...this.shown, isClosed: true };
  }
}

function isAnswer(action: Action): boolean {
  return action.kind === "answer";
}
