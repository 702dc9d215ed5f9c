import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type AdapterInput, hasOwnInbox } from "../../../src/adapter/adapter-schema.ts";
import { eventually } from "../timing/eventually.ts";
import type { Trait } from "./habits.ts";
import type { MemberTeam } from "./member-team.ts";

/** A member's team, with a wait for the member's texts. */
export interface HeardTeam extends MemberTeam {
  /** Waits until the member has reported a text; on a channel without turn ends, until it has got the text. */
  heard(text: string): Promise<unknown>;
}

export interface HabitContract {
  readonly adapter: Omit<AdapterInput, "command">;
  /** Makes the next start of the stand-in show a dialog; by default the file `dialog` does. */
  readonly showDialog?: ((team: MemberTeam) => void) | undefined;
  /** The state of the member between turns, and in a turn. */
  readonly rest: string;
  readonly work: string;
  team(settings?: Readonly<Record<string, unknown>>, more?: Partial<AdapterInput>): Promise<HeardTeam>;
  /** Defines a test that needs some traits. */
  when(traits: Trait | readonly Trait[], title: string, test: () => Promise<void>): void;
}

/** Defines the tests of bad habits. */
export function testHabits({ adapter, showDialog, rest, work, team, when }: HabitContract): void {
  it("survives 10 MB of output", async () => {
    const { spawn, heard, teams, prompted } = await team();
    await spawn("big");
    await prompted("big");
    await teams("send", "ada", "say: still here");
    await heard("still here");
  });

  it("has crashed when it exits in the middle of a turn: its task is unassigned, and the lead is notified", async () => {
    const { spawn, state, heard, teams, ada, inbox } = await team();
    await spawn("say: ready");
    await heard("ready");
    await teams("task", "add", "Count");
    await teams("task", "update", "1", "--owner", "ada", "--status", "in_progress");
    await teams("send", "ada", "exit: 3");
    await state("ada", "crashed");
    // Each status reconciles: this team has no lead's process.
    await eventually("a crash notice", async () => (await ada()) && (await inbox()).includes("ada crashed"));
    const { tasks } = (await teams("task", "list", "--json")).json<{ tasks: { owner?: string }[] }>();
    expect(tasks[0]?.owner).toBeUndefined();
  });

  when("request after the end", "allows no request that comes after the end of its turn", async () => {
    const { spawn, state, approvals, heard, teams, repo, log } = await team();
    await spawn("after\nsay: over");
    await heard("over");
    // claude sends its own request to the lead, which does not answer it.
    await eventually(
      "the late request",
      async () => log().some((line) => "after" in line) || (await approvals()).length > 0,
    );
    expect(log().find((line) => "after" in line) ?? { after: false }).toEqual({ after: false });
    expect(existsSync(join(repo, "after"))).toBe(false);
    if (hasOwnInbox(adapter.channel)) return;
    await state("ada", "idle");
    await teams("send", "ada", "say: still here");
    await heard("still here");
  });

  when("half a line", "survives a line that comes in two parts", async () => {
    const { spawn, state, heard, teams } = await team();
    await spawn("half\nsay: whole");
    await heard("whole");
    await state("ada", rest);
    await teams("send", "ada", "say: and again");
    await heard("and again");
  });

  when("late result", "stays idle when the result of a call comes after the end of its turn", async () => {
    const { spawn, state, heard, teams } = await team();
    // As the first line, `late` means another habit to the stand-in of claude. To the others, it is a call, which a turn's text follows.
    await spawn(hasOwnInbox(adapter.channel) ? "say: over\nlate" : "late\nsay: over");
    await heard("over");
    await state("ada", "idle");
    await teams("send", "ada", "say: still here");
    await heard("still here");
    await state("ada", "idle");
  });

  when("hostile title", "shows a hostile request as one line without control characters", async () => {
    const { spawn, approval, teams, ada, state } = await team();
    await spawn("hostile");
    const { id, summary } = await approval();
    await state("ada", "needs-input");
    const shown = await teams("approvals", id);
    const row = await ada();
    expect([summary, row?.activity].join(" ")).not.toMatch(/\p{Cc}/u);
    expect(shown.out.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    expect(shown.code).toBe(0);
  });

  when("slow start", "gets its first message once, however slow it starts", async () => {
    const { spawn, mark, state, log } = await team();
    mark("slow");
    const spawned = spawn("say: not too early");
    const prompts = (): number =>
      log().filter(({ prompt }) => String(prompt).includes("not too early")).length;
    await eventually("the first message", () => prompts() > 0);
    await spawned;
    await state("ada", rest);
    expect(prompts()).toBe(1);
  });

  when("late tools", "gets its first message after it has connected to the team's tools", async () => {
    const { spawn, mark, unmark, log, prompted } = await team({}, { firstMessageAfter: "tools" });
    mark("late-tools");
    const spawned = spawn("say: with tools");
    await eventually("the member's start", () => log().length > 0);
    unmark("late-tools");
    await prompted("with tools");
    await spawned;
    const order = log().flatMap((line) => ["tools", "prompt"].filter((key) => key in line));
    expect(order).toEqual(["tools", "prompt"]);
  });

  when("dialog at the start", "needs input while a dialog is open at its start", async () => {
    const own = await team();
    const { spawn, mark, ada, type, heard, log } = own;
    if (showDialog === undefined) mark("dialog");
    else showDialog(own);
    const spawned = spawn("say: answered");
    await eventually("the member's dialog", async () => (await ada())?.state === "needs-input");
    expect((await ada())?.activity).toMatch(/\w+: \w+/);
    expect(log().filter((line) => "prompt" in line)).toEqual([]);
    await type("yes", showDialog === undefined ? undefined : "Do you trust the files");
    await spawned;
    await heard("answered");
  });

  when("missing login", "needs input without its login, names the remedy, and starts after it", async () => {
    const { spawn, mark, unmark, state, ada, heard } = await team();
    mark("no-login");
    const spawned = spawn("say: logged in");
    await state("ada", "needs-input");
    expect((await ada())?.activity).toBe("fake is not logged in: log in with the login of the stand-in");
    unmark("no-login");
    await spawned;
    await heard("logged in");
    await state("ada", "idle");
  });

  when("draft in the input", "presses and types nothing over a draft of the person", async () => {
    const { spawn, state, prompted, teams, place: tmux, paneShowing, log } = await team();
    await spawn("stay\nsay: stay");
    await prompted("stay");
    await state("ada", work);
    const pane = await paneShowing();
    tmux.tmux("send-keys", "-t", pane, "-l", "half a thought");
    await paneShowing("> half a thought");
    // A program that is only typed to gets its interrupt key in any case: its busy screen may look like a draft.
    if (rest === "idle") await teams("interrupt", "ada");
    await teams("type", "ada", "over it");
    await paneShowing("> half a thought");
    expect(log().filter((line) => "escape" in line)).toEqual([]);
    tmux.tmux("send-keys", "-t", pane, ...Array.from("half a thought", () => "BSpace"));
  });

  when("own interrupt", "sees that the person interrupted a turn in its own screen", async () => {
    const { spawn, state, prompted, teams, inbox, heard, place: tmux, paneShowing } = await team();
    await spawn("stay");
    await prompted("stay");
    await state("ada", "running");
    tmux.tmux("send-keys", "-t", await paneShowing(), "Escape", "Enter");
    await state("ada", "idle");
    expect(await inbox()).toContain("interrupted");
    await teams("send", "ada", "say: after it");
    await heard("after it");
  });
}
