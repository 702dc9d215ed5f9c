import type { AdapterInput } from "../../../src/adapter/adapter-schema.ts";
import type { Finished } from "../processes/built-program.ts";
import { eventually } from "../timing/eventually.ts";
import { type Approval, type StandInTeam, standInTeam } from "./stand-in.ts";

/** A row of `status --json`. */
export interface MemberRow {
  readonly name: string;
  readonly state: string;
  readonly stateFrom?: string;
  readonly activity: string;
  readonly taskIds: readonly string[];
  readonly pid?: number;
  readonly pausedUntil?: string;
  readonly tokens?: { readonly input: number; readonly output: number } | null;
}

/** A team whose member `ada` is a stand-in. */
export interface MemberTeam extends StandInTeam {
  spawn(prompt: string, ...more: readonly string[]): Promise<Finished>;
  ada(): Promise<MemberRow | undefined>;
  /** Waits for a request other than these. */
  approval(...known: readonly Approval[]): Promise<Approval>;
  /** Waits until the lead has got a text. */
  leadGot(text: string): Promise<unknown>;
  /** Waits until the stand-in has got a text. */
  prompted(text: string): Promise<unknown>;
  /** Waits for a pane that shows a text, by default the first of the stand-in's own screen. @returns its id */
  paneShowing(text?: string): Promise<string>;
  /** Types a line into the stand-in's own screen. @param shown a text that it shows, by default its first one */
  type(line: string, shown?: string): Promise<void>;
}

/** @param place `tmux` for a stand-in with its own screen */
export async function memberTeam(
  file: string,
  adapter: Omit<AdapterInput, "command">,
  place: "tmux" | "process",
  settings: Readonly<Record<string, unknown>> = {},
): Promise<MemberTeam> {
  const own = await standInTeam(file, adapter, settings);
  const { teams, place: t, approvals, inbox } = own;
  const leadGot = (text: string): Promise<unknown> =>
    eventually(`the message ${text} to the lead`, async () => (await inbox()).includes(text));
  const paneShowing = (text = "the screen of the stand-in"): Promise<string> =>
    eventually(text, () => {
      const panes = t.tmux("list-panes", "-a", "-F", "#{pane_id}").trim().split("\n");
      return panes.find((pane) => t.tmux("capture-pane", "-p", "-t", pane).includes(text));
    });
  return {
    ...own,
    spawn: (prompt, ...more) =>
      teams("spawn", "ada", "--cli", "fake", "--prompt", prompt, "--teammate-mode", place, ...more),
    ada: async () => {
      const { members } = (await teams("status", "--json")).json<{ members: MemberRow[] }>();
      return members.find(({ name }) => name === "ada");
    },
    approval: (...known) =>
      eventually("a request", async () =>
        // The cause of a crash is recorded a moment after it.
        (await approvals()).find(
          ({ id, summary }) => summary !== "cause unknown" && known.every((one) => one.id !== id),
        ),
      ),
    leadGot,
    prompted: (text) =>
      eventually(`the prompt ${text}`, () => own.log().some(({ prompt }) => String(prompt).includes(text))),
    paneShowing,
    type: async (line, shown) => {
      const pane = await paneShowing(shown);
      t.tmux("send-keys", "-t", pane, "-l", line);
      t.tmux("send-keys", "-t", pane, "Enter");
    },
  };
}
