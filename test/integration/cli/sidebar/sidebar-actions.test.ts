import { expect, test } from "vitest";
import { sidebarActions } from "../../../../src/cli/sidebar/sidebar-actions.ts";
import { ownIdentity } from "../../../../src/os/process/identity.ts";
import { withMetadata } from "../../../../src/schema/member-metadata.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { readTeam, updateTeam } from "../../../../src/team/config/config.ts";
import { prepareRun, writeStatus } from "../../../../src/team/records/write-records.ts";
import type { AnyCall } from "../../../../src/terminal/call.ts";
import type { Io } from "../../../../src/terminal/io.ts";
import { reconcileContext } from "../../../support/team/reconcile-context.ts";
import { deadProcess, statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";

test("sidebarActions › shutdown and kill say that the program of an adopted member stays", async () => {
  const ref = await testTeam(["ada", "ben", "eve"]);
  const server = { socket: "/nowhere", pid: 1, procStart: "1" };
  const pane = { paneId: "%5", server, panePid: 1, paneProcStart: "1" };
  const adopted = { process: ownIdentity(), program: "codex", tty: "/dev/null", pane };
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((one) =>
      one.name === "ada" || one.name === "ben" ? withMetadata(one, { adopted }) : one,
    ),
  }));
  await prepareRun(ref, ["ada", "ben", "eve"]);
  for (const name of ["ada", "ben", "eve"]) writeStatus(ref, name, statusOf({ process: deadProcess() }));
  const open = { home: ref.home, ref, config: readTeam(ref), actor: LEAD_NAME };
  const { member } = sidebarActions({} as AnyCall, open, reconcileContext(ref));
  const stays = "Its program codex stays in your pane %5; only the bridge to it has ended";
  expect(await member.shutdown("ada")).toBe(`ada had already ended. ${stays}`);
  expect(await member.kill("ben")).toBe(`ben has ended. ${stays}`);
  expect(await member.kill("eve")).toBe("eve has ended");
});

test("sidebarActions › answers a crash by the command in the lead's directory, whose settings a restart needs", async () => {
  const ref = await testTeam(["ada"]);
  const ran: string[] = [];
  const runProgram = async ({ cwd, argv }: Io): Promise<number> => {
    ran.push([cwd, ...argv].join(" "));
    return 0;
  };
  const call = { io: { env: {}, cwd: "/nowhere", program: [] }, runProgram } as unknown as AnyCall;
  const open = { home: ref.home, ref, config: readTeam(ref), actor: LEAD_NAME };
  const { answer } = sidebarActions(call, open, reconcileContext(ref));
  const crash = { id: "crash-1@ada", from: "ada", note: "" };
  expect(await answer({ ...crash, verdict: "yes" })).toBe("ada is restarted");
  expect(await answer({ ...crash, verdict: "no" })).toBe("ada is removed from the team");
  expect(ran).toEqual([
    "/ approve --team=crew --json -- crash-1@ada",
    "/ reject --team=crew --json -- crash-1@ada",
  ]);
});
