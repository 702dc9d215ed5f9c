import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import type { InProcessAgent } from "../../backend/in-process/resident-agent.ts";
import { after } from "../../os/clock.ts";
import { onSuspend } from "../../os/process/suspend.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { readTasks } from "../../team/tasks/tasks.ts";
import { type TypingRow, typingRow } from "../../terminal/input-row.ts";
import type { LineEditor, ViewKey } from "../../terminal/line-editor.ts";
import { painter } from "../../terminal/pane-writer.ts";
import {
  afterKey,
  frameOf,
  type KeyPress,
  LEAD_VIEW,
  settledView,
  type TeamView,
  type ViewFacts,
} from "./team-view.ts";

interface LeadScreenOptions {
  readonly ref: TeamRef;
  /** Who can be looked at. */
  readonly inside: InProcessBackend;
  /** Writes to the lead's terminal. */
  out(text: string): void;
  size(): { readonly width: number; readonly height: number };
  readonly plain: boolean;
}

/**
 * A lead's terminal that shows its teammates too. The lead's own paper is written as ever and never drawn over; what else is
 * looked at stands on the terminal's other screen, and what the lead writes meanwhile waits.
 */
export interface LeadScreen {
  readonly editor: LineEditor;
  /** The lead's own words. */
  write(text: string): void;
  /** What is typed, as it is typed. */
  echo(text: string): void;
  /** This line for the lead waits for the turn that runs. */
  hold(line: string): void;
  release(line: string): void;
  key(key: ViewKey): void;
  /** @returns whether it was for the lead */
  escape(): boolean;
  /** A typed line, which may be empty: `lead` where it is for the lead. */
  line(line: string): Promise<"lead" | "taken">;
  /** Something of the team changed, or the terminal's size. */
  changed(): void;
  /** Follows what the teammates do and show. @returns ends that */
  watch(): () => void;
  /** Gives the terminal back as it was; may be called twice. */
  leave(): void;
}

/** Milliseconds between two frames: what several say at once is drawn once. */
const FRAME_MS = 40;
/** Characters of the lead's own words that wait: a hundred screens; its conversation has the rest. */
const MOST_HELD = 512 * 1024;
const BELL = "\x07";
/** The other screen, and on it no row goes on in the next one. */
const ENTER = "\x1b[?1049h\x1b[?7l\x1b[2J";
const LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l";

export function leadScreen(options: LeadScreenOptions): LeadScreen {
  return new Screen(options);
}

/**
 * Keeps it in step with its terminal's size, and gives the terminal back in every ending but SIGKILL.
 * @returns ends that, with the lead's own paper to be seen
 */
export function showTeammates(screen: LeadScreen, signal: AbortSignal): () => void {
  const leave = (): void => screen.leave();
  const changed = (): void => screen.changed();
  const stopWatching = screen.watch();
  process.stdout.on("resize", changed);
  const endStops = onSuspend(leave);
  signal.addEventListener("abort", leave);
  process.on("exit", leave);
  return () => {
    leave();
    stopWatching();
    process.stdout.off("resize", changed);
    signal.removeEventListener("abort", leave);
    process.off("exit", leave);
    endStops();
  };
}

class Screen implements LeadScreen {
  readonly #options: LeadScreenOptions;
  /** The lead's own paper, with what is typed below it. */
  readonly #paper: TypingRow;
  #view: TeamView = LEAD_VIEW;
  #held = "";
  #cancel: (() => void) | undefined;

  constructor(options: LeadScreenOptions) {
    this.#options = options;
    const { out, size, plain } = options;
    this.#paper = typingRow({ out, plain, width: () => size().width });
  }

  get editor(): LineEditor {
    return this.#paper.editor;
  }

  write(text: string): void {
    // A bell draws nothing, and is for now.
    if (this.#view.at === "lead" || text === BELL) {
      if (text === BELL) this.#options.out(text);
      else this.#paper.write(text);
      return;
    }
    this.#held += text;
    if (this.#held.length <= MOST_HELD) return;
    const kept = this.#held.slice(-MOST_HELD / 2);
    this.#held = `… what came before is in: teams logs team-lead\n${kept.slice(kept.indexOf("\n") + 1)}`;
  }

  echo(text: string): void {
    if (this.#view.at === "lead") this.#paper.echo(text);
    else this.changed();
  }

  hold(line: string): void {
    this.#paper.hold(line);
  }

  release(line: string): void {
    this.#paper.release(line);
  }

  key(key: ViewKey): void {
    this.#press(key);
  }

  escape(): boolean {
    if (this.#view.at === "lead") return true;
    this.#press("escape");
    return false;
  }

  async line(line: string): Promise<"lead" | "taken"> {
    if (this.#view.at === "lead") return "lead";
    if (this.#view.at !== "agent") this.#press("enter");
    else if (line.trim() !== "") {
      // Whoever answers wishes to see what comes of it.
      this.#show({ ...this.#view, back: 0 });
      await this.#selected()?.typed(line);
    }
    return "taken";
  }

  changed(): void {
    if (this.#view.at === "lead") return;
    this.#cancel ??= after(FRAME_MS, () => {
      this.#cancel = undefined;
      this.#draw();
    });
  }

  watch(): () => void {
    return this.#options.inside.watch(() => this.changed());
  }

  leave(): void {
    this.#show(LEAD_VIEW);
  }

  #press(key: KeyPress): void {
    const { view, interrupt } = afterKey(this.#view, key, this.#agents());
    // One that waits for an answer after its turn has none to be ended.
    const hasEnded = interrupt && !(this.#selected()?.interrupt() ?? false);
    this.#show(hasEnded ? { ...view, at: "lead", back: 0 } : view);
  }

  #show(view: TeamView): void {
    const before = this.#view;
    if (view.at !== before.at) this.#dropTyped();
    this.#view = view;
    if (before.at === "lead" && view.at !== "lead") {
      this.#paper.pause();
      this.#options.out(ENTER);
    }
    if (view.at !== "lead") {
      this.#draw();
      return;
    }
    if (before.at === "lead") return;
    this.#cancel?.();
    this.#cancel = undefined;
    const held = this.#held;
    this.#held = "";
    this.#options.out(LEAVE);
    this.#paper.resume();
    if (held !== "") this.#paper.write(held);
  }

  /** A line that was begun for one is not meant for another. */
  #dropTyped(): void {
    for (const typed of this.editor.clear()) {
      if (typed.kind === "echo" && this.#view.at === "lead") this.#paper.echo(typed.text);
    }
  }

  #selected(): InProcessAgent | undefined {
    return this.#agents().find(({ name }) => name === this.#view.selected);
  }

  /** As they have joined, which is not the order in which several of one turn were ready to start. */
  #agents(): readonly InProcessAgent[] {
    const { ref, inside } = this.#options;
    const names = teamExists(ref) ? readTeam(ref).members.map(({ name }) => name) : [];
    return inside.agents().toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  }

  #draw(): void {
    const { size, plain, out } = this.#options;
    const facts = this.#facts();
    const settled = settledView(this.#view, facts.agents);
    if (settled.at !== this.#view.at) {
      this.#show(settled);
      return;
    }
    this.#view = settled;
    const { width, height } = size();
    const sheet = { width, height, paint: painter(plain) };
    const { rows, cursor } = frameOf(settled, facts, sheet, this.editor.line);
    const place = cursor === undefined ? "\x1b[?25l" : `\x1b[${rows.length};${cursor + 1}H\x1b[?25h`;
    // Erased before it is written: behind a full row the cursor stands on its last cell.
    const drawn = rows.map((row) => `\x1b[2K${row}\x1b[0m`).join("\r\n");
    out(`\x1b[H${drawn}${rows.length < height ? "\r\n\x1b[J" : ""}${place}`);
  }

  #facts(): ViewFacts {
    const { ref } = this.#options;
    const agents = this.#agents().map(({ name, color, state, shown }) => ({
      name,
      color,
      state,
      activity: readStatus(ref, name)?.activity ?? "",
      lines: shown.lines(),
    }));
    return { team: ref.team, agents, tasks: this.#view.at === "tasks" ? readTasks(ref) : [] };
  }
}
