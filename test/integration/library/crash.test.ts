import { describe, expect, it } from "vitest";
import type { ApproveOptions } from "../../../src/library/options.ts";
import { addMembers } from "../../../src/team/members/members.ts";
import { prepareRun, writeStatus } from "../../../src/team/records/write-records.ts";
import { codeOf, errorOf, libraryTeam } from "../../support/library/library-team.ts";
import { deadProcess, statusOf } from "../../support/team/status-records.ts";

/** Creates a team whose teammate `ada` has crashed. @returns also the id of the request about the crash */
async function withCrash() {
  const { team, ref, options } = await libraryTeam();
  await addMembers(ref, [{ name: "ada", cwd: options.cwd }]);
  await prepareRun(ref, ["ada"]);
  writeStatus(ref, "ada", statusOf({ state: "running", process: deadProcess() }));
  const ids = async () => (await team.approvals.list()).map(({ id }) => id);
  const [id = ""] = await ids();
  return { team, id, ids };
}

describe("a crash in the library", () => {
  it("stays open if the signal ends the restart", async () => {
    const { team, id, ids } = await withCrash();
    expect(await team.approvals.get(id)).toMatchObject({ kind: "crash", from: "ada" });
    const stop = new AbortController();
    const answer = team.approvals.approve(id, { signal: stop.signal });
    stop.abort("enough");
    expect(await errorOf(answer)).toMatchObject({ code: "INTERRUPTED", cause: "enough" });
    expect(await ids()).toEqual([id]);
    expect(await team.teammate("ada").status()).toMatchObject({ state: "crashed", alive: false });
  });

  it.each<ApproveOptions>([{ always: true }, { mode: "default" }])(
    "takes no options such as %o",
    async (options) => {
      const { team, id, ids } = await withCrash();
      expect(await codeOf(team.approvals.approve(id, options))).toBe("INVALID_INPUT");
      expect(await ids()).toEqual([id]);
    },
  );

  it("removes the member if it is rejected", async () => {
    const { team, id, ids } = await withCrash();
    expect(await team.approvals.reject(id)).toMatchObject({ kind: "crash", from: "ada" });
    expect(await ids()).toEqual([]);
    expect((await team.status()).members.map(({ name }) => name)).toEqual(["team-lead"]);
  });
});
