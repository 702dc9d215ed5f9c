import { expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { openRequest } from "../../../src/team/requests/requests.ts";
import type { ClientToolContext } from "../../../src/team-tools/mcp/client-tool.ts";
import { wait } from "../../../src/team-tools/mcp/wait.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";
import { contextOf } from "../../support/worker/start-worker.ts";

it("Wait › names a request again if its call was cancelled before the answer", async () => {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef(teamsHome(cli.env), "crew");
  const id = "perm-1-abcdefg";
  const payload = { tool: "Bash", input: { command: "ls" } };
  openRequest(ref, { id, kind: "permission", from: "ada", summary: "ls", at: 1, payload });
  const stop = new AbortController();
  const waiting = async (): Promise<number> => {
    stop.abort();
    return 0;
  };
  const context = {
    ctx: contextOf(ref),
    role: "teammate",
    withoutInbox: false,
    knownRequests: new Set(),
    mail: { waiting },
  } as unknown as ClientToolContext;
  const call = (signal: AbortSignal) =>
    wait(context).execute(
      { for: ["request"], timeout_seconds: 0 },
      { signal, client: "a", progress: () => undefined },
    );
  await expect(call(stop.signal)).rejects.toThrow();
  const { data } = await call(new AbortController().signal);
  expect(data).toMatchObject({ happened: ["request"], requests: [id] });
});
