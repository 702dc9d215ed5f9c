import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readTeam } from "../../../src/team/config/config.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { TEAMS, teamsIn } from "../../support/processes/built-program.ts";
import { transcriptTexts } from "../../support/team/transcript-texts.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const NAMES = ["ada", "bob", "cyd", "dan"] as const;

it("a slow login shell › does not delay a teammate, and no text is typed into a shell (S1)", async () => {
  const t = privateTmux({ config: "set -g default-shell /bin/bash", env: { SHELL: "/bin/bash" } });
  const { pane } = t.session();
  // A startup file that runs until the test ends it.
  writeFileSync(join(t.home, ".bashrc"), 'until [ -e "$HOME/go" ]; do sleep 0.05; done\n');
  writeFileSync(
    join(t.home, "play.json"),
    JSON.stringify({ version: 1, agents: { "*": [{ say: "I heard {{input}}" }] } }),
  );
  const teams = teamsIn(t.inside(pane), t.home);
  await teams(["create", "crew"]);
  const words = ["--model", "scripted:play.json", "--prompt", "hello; exit 1"];
  const spawning = Promise.all(NAMES.map((name) => teams(["spawn", name, ...words])));
  const ref = teamRef(teamsHome(t.env), "crew");
  for (const name of NAMES) {
    await eventually(`${name}'s turn`, () => transcriptTexts(ref, name).includes("I heard hello; exit 1"));
    const { paneId = "", instance } = readPlace(ref, name) ?? {};
    const show = (format: string) => t.tmux("display-message", "-p", "-t", paneId, format);
    expect(show("#{pane_start_command}")).toMatch(new RegExp(`^"?/bin/sh \\S+ outer ${instance} `));
    const argv = argvOf(readStatus(ref, name)?.process.pid);
    expect(argv.slice(0, 6)).toEqual([TEAMS, "agent", "--agent-id", `${name}@crew`, "--agent-name", name]);
    expect(argv).toContain(readTeam(ref).leadSessionId);
    // Text typed into a terminal would be visible on it.
    expect(t.tmux("capture-pane", "-p", "-S", "-", "-t", paneId)).not.toMatch(
      /agent-id|\/bin\/sh|exit 1[^\s]/,
    );
  }
  writeFileSync(join(t.home, "go"), "");
  expect((await spawning).map(({ code, err }) => [code, err])).toEqual(NAMES.map(() => [0, ""]));
  await teams(["kill", "crew", "--force", "--purge"]);
  await leaves(t, nothing(["work:cat"]));
});

it("the shell snapshot › is taken after a teammate's start: the two do not compete for a processor", async () => {
  const t = privateTmux({ env: { SHELL: "/bin/bash" } });
  const { pane } = t.session();
  const teams = teamsIn(t.inside(pane), t.home);
  await teams(["create", "crew"]);
  const { status } = teamRef(teamsHome(t.env), "crew").paths.agent("ada");
  const seen = join(t.home, "seen");
  writeFileSync(
    join(t.home, ".bashrc"),
    `[ -e '${status}' ] && echo ready >'${seen}' || echo early >'${seen}'\n`,
  );
  expect((await teams(["spawn", "ada", "--model", "scripted"])).code).toBe(0);
  expect(readFileSync(seen, "utf8")).toBe("ready\n");
});

/** Returns the arguments of a process without its interpreter. */
function argvOf(pid: number | undefined): string[] {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(1, -1);
}
