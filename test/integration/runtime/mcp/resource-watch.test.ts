import { mkdirSync, rmdirSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { ResourceWatch } from "../../../../src/runtime/mcp/resource-watch.ts";
import { TeamResources } from "../../../../src/runtime/mcp/resources.ts";
import { LEAD_NAME } from "../../../../src/schema/names.ts";
import { sendMessage } from "../../../../src/team/mailbox/send.ts";
import type { ClientToolContext } from "../../../../src/team-tools/mcp/client-tool.ts";
import { testTeam } from "../../../support/team/test-team.ts";
import { eventually } from "../../../support/timing/eventually.ts";

it("ResourceWatch › reports changes again after a file could not be read", async () => {
  const ref = await testTeam(["ada"]);
  const context = { ctx: { home: ref.home, ref, actor: "ada" } } as unknown as ClientToolContext;
  const [problems, changed]: [string[], string[]] = [[], []];
  const watch = new ResourceWatch(ref, new TeamResources(context), (text) => problems.push(text));
  onTestFinished(() => watch.close());
  watch.subscribe((uri) => changed.push(uri));
  // A directory cannot be read, even by root.
  const { status } = ref.paths.agent("ada");
  mkdirSync(status, { recursive: true });
  await eventually("the problem", () => problems.length > 0);
  rmdirSync(status);
  await sendMessage(ref, { from: LEAD_NAME, to: "ada", text: "hello" });
  await eventually("the change", () => changed.includes("teams://crew/inbox"));
  expect(problems).toEqual([expect.stringContaining("cannot be noticed now")]);
});
