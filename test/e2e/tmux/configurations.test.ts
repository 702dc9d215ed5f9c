import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readTeam } from "../../../src/team/config/config.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { doneIn } from "../../support/processes/built-program.ts";
import { transcriptTexts } from "../../support/team/transcript-texts.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";
import { userState } from "../../support/tmux/user-state.ts";

const NAMES = ["ada", "bob", "cyd"] as const;
const PLAYBOOK = { version: 1, agents: { "*": [{ say: "I heard {{input}}", repeat: true }] } };
const SPAWN = ["--model", "scripted:play.json", "--prompt", "hello"] as const;

/** A login shell that rejects every command: no start may depend on the user's shell. */
const REFUSING_SHELL = fileURLToPath(new URL("../../fixtures/shells/refuses.sh", import.meta.url));

interface Member {
  readonly name: string;
  readonly alive: boolean;
  readonly paneId: string;
}

describe("the whole life of a team led by hand from an attached pane", () => {
  it.each(["defaults", "habits", "keeps", "bare", "no-shell", "refuses", "sizes", "status", "hooks"])(
    "leaves the user's tmux unchanged under the configuration “%s” (S1, S3, S7, S67)",
    async (config) => {
      await runWholeLife(privateTmux({ config, env: { REFUSING_SHELL } }));
    },
  );

  it("leaves the user's tmux unchanged when the socket path contains spaces (S7, S67)", async () => {
    await runWholeLife(privateTmux({ sockets: "it's my “tmux” dir" }));
  });
});

async function runWholeLife(t: PrivateTmux): Promise<void> {
  const { pane } = t.session("mine");
  t.tmux("split-window", "-d", "-h", "-t", pane, "--", "env", "cat");
  t.tmux("split-window", "-d", "-v", "-t", pane, "--", "env", "cat");
  // A window resized by hand keeps its size for every client.
  const other = t.tmux(
    "new-window",
    "-d",
    "-n",
    "other",
    "-P",
    "-F",
    "#{window_id}",
    "-t",
    "=mine:",
    "--",
    "env",
    "cat",
  );
  t.tmux("resize-window", "-t", other, "-x", "150", "-y", "40");
  t.tmux("set-buffer", "-b", "kept", "mine");
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  await t.attach("=mine:");
  const before = userState(t);
  const teams = doneIn(t.inside(pane), t.home);
  await teams("create", "crew");
  await Promise.all(NAMES.map((name) => teams("spawn", name, ...SPAWN)));
  const { members } = (await teams("status", "--json")).json<{ members: Member[] }>();
  const paneOf = (name: string) => members.find((member) => member.name === name)?.paneId ?? "";
  expect(members.filter(({ name }) => name !== "team-lead").map(({ alive }) => alive)).toEqual([
    true,
    true,
    true,
  ]);
  const show = (format: string, name = "ada") => t.tmux("display-message", "-p", "-t", paneOf(name), format);
  expect(show("#{session_name} #{window_name} #{window_panes} #{window_active}")).toBe("mine crew 3 0");
  const grid = show("#{window_layout}");

  const ref = teamRef(teamsHome(t.env), "crew");
  await teams("send", "ada", "a word");
  await eventually("ada's answer", () => transcriptTexts(ref, "ada").includes("I heard a word"));
  await teams("wait", "--idle");
  expect((await teams("peek", "ada")).out).toContain("I heard a word");

  await teams("hide", "bob");
  expect([readTeam(ref).hiddenPaneIds, show("#{window_panes}")]).toEqual([[paneOf("bob")], "2"]);
  await teams("show", "bob");
  expect([readTeam(ref).hiddenPaneIds, show("#{window_panes}")]).toEqual([[], "3"]);
  await teams("layout", "even-vertical");
  await teams("layout", "grid");
  expect(sizesOf(show("#{window_layout}"))).toEqual(sizesOf(grid));

  await teams("shutdown", "bob", "--timeout", "180");
  await teams("kill", "cyd", "--force");
  await eventually("ada alone", () => show("#{window_panes}") === "1");
  await teams("kill", "crew", "--force");
  await teams("delete", "crew");
  expect(userState(t)).toEqual(before);
  // The user's shell was never called, and no keys were typed into a shell.
  expect(existsSync(join(t.home, "asked-of-the-shell"))).toBe(false);
  await leaves(t, nothing(["mine:cat", "mine:cat", "mine:cat", "mine:cat"]));
}

/** Removes the checksum and the pane numbers from a layout. */
function sizesOf(layout: string): string {
  return layout.slice(5).replaceAll(/,\d+(?=[,\]}]|$)/g, "");
}
