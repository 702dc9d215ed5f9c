import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ResumeReport } from "../../../src/operations/resume/resume.ts";
import type { TeamStatus } from "../../../src/operations/status.ts";
import { readPlace, readStatus } from "../../../src/team/records/read-records.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { leaves, nothing } from "../../support/assertions/leftovers.ts";
import { startTeams, teamsIn } from "../../support/processes/built-program.ts";
import { isAtRest } from "../../support/team/is-at-rest.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { type PrivateTmux, privateTmux } from "../../support/tmux/private-tmux.ts";

/**
 * Returns a PATH whose tmux kills the spawn at its third call: the pane exists, but is neither tagged nor recorded.
 */
function deadlyPath(t: PrivateTmux): string {
  const [bin, calls] = [join(t.home, "bin"), join(t.home, "calls")];
  const real = execFileSync("/bin/sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim();
  mkdirSync(bin);
  const script = `#!/bin/sh
if ps -o args= -p "$PPID" | grep -q " spawn "; then
  echo >>"${calls}"
  [ "$(wc -l <"${calls}")" -lt 3 ] || { kill -9 "$PPID"; exit 1; }
fi
exec ${real} "$@"
`;
  writeFileSync(join(bin, "tmux"), script, { mode: 0o755 });
  return `${bin}:${t.env.PATH}`;
}

it("spawn › adopts the agent when its spawner is killed before it records the pane", async () => {
  const t = privateTmux();
  const { pane } = t.session();
  const teams = teamsIn(t.env, t.home);
  const done = async (words: string) => {
    const ended = await teams(words.split(" "), { env: { ...t.env, ...t.inside(pane) } });
    expect([words, ended.code, ended.err]).toEqual([words, 0, ""]);
    return ended;
  };
  const ref = teamRef(teamsHome(t.env), "crew");
  await done("create crew");
  const env = { ...t.inside(pane), PATH: deadlyPath(t) };
  const { child, ended } = startTeams(["spawn", "dev", "--team", "crew"], env, t.home);
  expect(await ended).toBeNull();
  expect(child.signalCode).toBe("SIGKILL");
  await eventually("dev to be idle", () => isAtRest(ref, "dev"));
  expect(existsSync(ref.paths.agent("dev").place)).toBe(false);

  const [dev = ""] = t
    .tmux("list-panes", "-a", "-F", "#{pane_id}")
    .split("\n")
    .filter((id) => id !== pane);
  const pid = Number(t.tmux("display-message", "-p", "-t", dev, "#{pane_pid}"));
  expect(readPlace(ref, "dev")).toMatchObject({ paneId: dev, panePid: pid, backend: "tmux" });
  const tag = () => t.tmux("show-options", "-pqv", "-t", dev, "@teams_agent");
  await eventually("the pane's tag", () => tag() === readStatus(ref, "dev")?.instance);
  const { members } = (await done("status --json")).json<TeamStatus>();
  expect(members[1]).toMatchObject({ name: "dev", state: "idle", alive: true, paneId: dev });
  expect((await done("peek dev")).out).toContain("team crew");
  const resumed = (await done("resume --json")).json<ResumeReport>();
  expect(resumed.members).toMatchObject([{ name: "dev", outcome: "alive", paneId: dev }]);
  await done("kill crew --force --purge");
  await leaves(t, nothing(["work:cat"]));
});
