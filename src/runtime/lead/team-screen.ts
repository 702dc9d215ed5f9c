import type { InProcessBackend } from "../../backend/in-process/in-process-backend.ts";
import type { InProcessAgent, WorkerInput } from "../../backend/in-process/resident-agent.ts";
import { after } from "../../os/clock.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { readStatus } from "../../team/records/read-records.ts";
import type { TeamRef } from "../../team/ref.ts";
import { readTasks } from "../../team/tasks/tasks.ts";
import { draftsOf, restoreDraft } from "../../terminal/input/drafts.ts";
import type { ViewKey } from "../../terminal/input/key-decoder.ts";
import type { LineEditor } from "../../terminal/input/line-editor.ts";
import type { InputTerminal } from "../../terminal/input/line-reader.ts";
import { type LiveRegion, liveRegion } from "../../terminal/live/live-region.ts";
import type { PaneRegion } from "../../terminal/pane/pane-view.ts";
import { shortCall } from "../../text/short-call.ts";
import { styler } from "../../text/style.ts";
import {
  applyKey,
  heldOutput,
  type KeyPress,
  LEAD_VIEW,
  lineOwner,
  renderFrame,
  type TeamView,
  type ViewFacts,
  validView,
} from "./team-view.ts";

interface LeadScreenOptions {
  readonly ref: TeamRef;
  /** The teammates that can be shown. */
  readonly inProcess: InProcessBackend;
  /** Writes to the lead's terminal. */
  out(text: string): void;
  size(): { readonly width: number; readonly height: number };
  readonly plain: boolean;
}

/**
 * A lead's terminal that can also show its in-process teammates and the tasks. The lead's output is append-only on the
 * normal screen. The other views use the alternate screen; output of the lead is held meanwhile.
 */
export interface LeadScreen extends InputTerminal, PaneRegion {
  /** Whether the terminal shows the lead's output. */
  readonly showsLead: boolean;
  /** The input of the shown teammate, which gets the keys; undefined if no teammate is shown. */
  readonly teammate: WorkerInput | undefined;
  /** Writes output of the lead. */
  write(text: string): void;
  key(key: ViewKey): void;
  /** @returns true if the key was for the lead */
  escape(): boolean;
  /** Handles a typed line, which may be empty. @returns `lead` if it is for the lead */
  line(line: string, begun: number): Promise<"lead" | "taken">;
  /** Redraws after a change of the typed line, of the team or of the terminal's size. */
  changed(): void;
  /** Redraws when a teammate's state or output changes. @returns a function that stops this */
  watch(): () => void;
  /** Clears the terminal, and draws the shown view again. */
  clear(): void;
  /** Returns to the lead's view on the normal screen. Idempotent. */
  leave(): void;
}

/** Milliseconds between two frames; changes in between are drawn together. */
const FRAME_MS = 40;
const BELL = "\x07";
/** Switches to the alternate screen, without line wrap. */
const ENTER = "\x1b[?1049h\x1b[?7l\x1b[2J";
const LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/** The activity of each teammate, by name. */
type Activities = ReadonlyMap<string, string>;

export function createLeadScreen(options: LeadScreenOptions): LeadScreen {
  return new Screen(options);
}

class Screen implements LeadScreen {
  readonly activity: LiveRegion["activity"];
  readonly closeInput: LiveRegion["closeInput"];
  readonly control: LiveRegion["control"];
  readonly hold: LiveRegion["hold"];
  readonly openInput: LiveRegion["openInput"];
  readonly progress: LiveRegion["progress"];
  readonly prompt: LiveRegion["prompt"];
  readonly question: LiveRegion["question"];
  readonly release: LiveRegion["release"];
  readonly together: LiveRegion["together"];
  readonly #options: LeadScreenOptions;
  /** The lead's output with its live rows below it. */
  readonly #leadOutput: LiveRegion;
  readonly #drafts = draftsOf(() => this.editor);
  #view: TeamView = LEAD_VIEW;
  #held = "";
  #cancel: (() => void) | undefined;
  /** Data of the newest successful read of the team's files. */
  #read: Pick<ViewFacts, "tasks"> & { readonly names: readonly string[]; readonly activities: Activities } = {
    tasks: [],
    names: [],
    activities: new Map(),
  };

  constructor(options: LeadScreenOptions) {
    this.#options = options;
    const { out, size, plain } = options;
    this.#leadOutput = liveRegion({
      out,
      plain,
      width: () => size().width,
      height: () => size().height,
      apart: true,
    });
    ({
      activity: this.activity,
      closeInput: this.closeInput,
      control: this.control,
      hold: this.hold,
      openInput: this.openInput,
      progress: this.progress,
      prompt: this.prompt,
      question: this.question,
      release: this.release,
      together: this.together,
    } = this.#leadOutput);
  }

  get editor(): LineEditor {
    return this.#leadOutput.editor;
  }

  get showsLead(): boolean {
    return this.#view.at === "lead";
  }

  get teammate(): WorkerInput | undefined {
    return this.#view.at === "agent" ? this.#selected()?.input : undefined;
  }

  write(text: string): void {
    // A bell draws nothing and must not be late.
    if (text === BELL) this.#options.out(text);
    else if (this.#view.at === "lead") this.#leadOutput.write(text);
    else this.#held = heldOutput(this.#held + text);
  }

  pause(): void {
    if (this.#view.at === "lead") this.#leadOutput.pause();
  }

  resume(): void {
    if (this.#view.at === "lead") this.#leadOutput.resume();
  }

  key(key: ViewKey): void {
    this.#press(key);
  }

  escape(): boolean {
    if (this.#view.at === "lead") return true;
    this.#press("escape");
    return false;
  }

  async line(line: string, begun: number): Promise<"lead" | "taken"> {
    if (this.#view.at === "lead") return "lead";
    if (this.#view.at !== "agent") this.#press("enter");
    else if (line.trim() !== "") {
      // Scroll to the end: the user wants to see the effect of the line.
      this.#show({ ...this.#view, scrolledBack: 0 });
      const input = this.#selected()?.input;
      if (input === undefined) this.#keepTyped(line, begun);
      else await input.typed(line, begun);
    }
    return "taken";
  }

  /** Restores a typed line in the input: the teammate is not running yet. */
  #keepTyped(line: string, begun: number): void {
    restoreDraft(this.editor, { line, begun });
    this.changed();
  }

  changed(): void {
    if (this.#view.at === "lead") {
      this.#leadOutput.changed();
      return;
    }
    this.#cancel ??= after(FRAME_MS, () => {
      this.#cancel = undefined;
      this.#draw();
    });
  }

  clear(): void {
    if (this.#view.at === "lead") this.#leadOutput.clear();
    else this.changed();
  }

  watch(): () => void {
    return this.#options.inProcess.watch(() => this.changed());
  }

  leave(): void {
    this.#show(LEAD_VIEW);
  }

  #press(key: KeyPress): void {
    const { view, interrupt } = applyKey(this.#view, key, this.#agents());
    // A teammate that waits for an answer after its turn has no turn to interrupt: Esc then leaves its view.
    const leaves = interrupt && !(this.#selected()?.input?.interrupt() ?? false);
    this.#show(leaves ? { ...view, at: "lead", scrolledBack: 0 } : view);
  }

  #show(view: TeamView): void {
    const before = this.#view;
    this.#view = view;
    // A line typed in one view is not meant for the next view: it stays in its own.
    this.#drafts.change(lineOwner(before), lineOwner(view));
    if (before.at === "lead" && view.at !== "lead") {
      this.#leadOutput.pause();
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
    this.#leadOutput.resume();
    if (held !== "") this.#leadOutput.write(held);
  }

  #selected(): InProcessAgent | undefined {
    return this.#agents().find(({ name }) => name === this.#view.selected);
  }

  /** In the order in which they joined the team, which may differ from the order of their starts. */
  #agents(): readonly InProcessAgent[] {
    const { inProcess } = this.#options;
    this.#readTeam();
    const { names } = this.#read;
    return inProcess.agents().toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name));
  }

  /**
   * Reads the team's files. Never throws: timers and keys draw, and no caller would get the error. If a file cannot be read, the
   * screen shows the last data; the supervision of the team reports the problem.
   */
  #readTeam(): void {
    const { ref, inProcess } = this.#options;
    try {
      const members = teamExists(ref) ? readTeam(ref).members : [];
      const names = members.map(({ name }) => name);
      const activityOf = (agent: string): string => {
        const { cwd } = members.find(({ name }) => name === agent) ?? {};
        return shortCall(readStatus(ref, agent)?.activity ?? "", cwd, Number.POSITIVE_INFINITY).text;
      };
      const activities = new Map(inProcess.agents().map(({ name }) => [name, activityOf(name)]));
      const tasks = this.#view.at === "tasks" ? readTasks(ref) : [];
      this.#read = { names, activities, tasks };
    } catch {
      // See above.
    }
  }

  #draw(): void {
    const { size, plain, out } = this.#options;
    const facts = this.#facts();
    const valid = validView(this.#view, facts.agents);
    if (valid.at !== this.#view.at) {
      this.#show(valid);
      return;
    }
    this.#view = valid;
    const { width, height } = size();
    const canvas = { width, height, styleText: styler(plain) };
    const { rows, cursor } = renderFrame(valid, facts, canvas, this.editor.edited);
    const cursorCode =
      cursor === undefined ? "\x1b[?25l" : `\x1b[${cursor.row + 1};${cursor.column + 1}H\x1b[?25h`;
    // Erase before writing: after a full row the cursor stays on its last cell.
    const drawn = rows.map((row) => `\x1b[2K${row}\x1b[0m`).join("\r\n");
    out(`\x1b[H${drawn}${rows.length < height ? "\r\n\x1b[J" : ""}${cursorCode}`);
  }

  #facts(): ViewFacts {
    const { ref } = this.#options;
    const agents = this.#agents().map(({ name, color, state, output: shown }) => ({
      name,
      color,
      state,
      activity: this.#read.activities.get(name) ?? "",
      lines: shown.lines(),
    }));
    return { team: ref.team, agents, tasks: this.#view.at === "tasks" ? this.#read.tasks : [] };
  }
}
