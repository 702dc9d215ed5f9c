import { expect, test } from "vitest";
import { shareRules } from "../../../../src/operations/approvals/share-rules.ts";
import { unreadMessages } from "../../../../src/team/mailbox/receive.ts";
import { writeStatus } from "../../../../src/team/records/write-records.ts";
import { failingRenames } from "../../../support/files/failing-renames.ts";
import { statusOf } from "../../../support/team/status-records.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { contextOf } from "../../../support/worker/start-worker.ts";

test("shareRules › sends the rules to the other members if one inbox cannot be written", async () => {
  const names = ["ada", "bob", "cem"];
  const ref = await testTeam(names);
  for (const name of names) writeStatus(ref, name, statusOf());
  failingRenames((_from, to) => to === ref.paths.inbox("bob"));
  const share = shareRules(contextOf(ref), ["Bash(touch:*)"], { asker: "ada", directory: undefined });
  await expect(share).rejects.toThrow("ENOSPC");
  const typesFor = async (name: string): Promise<unknown> =>
    (await unreadMessages(ref, name)).map(({ protocol }) => protocol?.type);
  expect(await typesFor("cem")).toEqual(["team_permission_update"]);
  expect(await typesFor("ada")).toEqual([]);
});
