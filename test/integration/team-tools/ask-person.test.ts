import { rmSync, symlinkSync } from "node:fs";
import { expect, it } from "vitest";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { askPerson } from "../../../src/team-tools/mcp/ask-person.ts";
import type { ClientToolContext, FormAnswer } from "../../../src/team-tools/mcp/client-tool.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

it("askPerson › fails after the form if the requests cannot be read, and the process continues", async () => {
  const cli = cliIn();
  await cli(["create", "crew"]);
  const ref = teamRef(teamsHome(cli.env), "crew");
  rmSync(ref.paths.requests, { recursive: true, force: true });
  symlinkSync("requests", ref.paths.requests);
  const context = { ctx: { ref }, hasPerson: true } as unknown as ClientToolContext;
  const request = { id: "perm-1-abcdefg", kind: "permission", from: "ada", summary: "ls", at: 1 } as const;
  const answer = askPerson(context, request, {
    signal: new AbortController().signal,
    client: "a",
    progress: () => undefined,
    ask: async (): Promise<FormAnswer> => {
      await new Promise(setImmediate);
      return { action: "cancel" };
    },
  });
  await expect(answer).rejects.toMatchObject({ code: "ELOOP" });
});

it("askPerson › names the limit if a request is too long for a form", async () => {
  const context = { hasPerson: true } as unknown as ClientToolContext;
  const request = {
    id: "perm-1-abcdefg",
    kind: "permission",
    from: "ada",
    summary: "x".repeat(20_000),
    at: 1,
  } as const;
  const answer = askPerson(context, request, {
    signal: new AbortController().signal,
    client: "a",
    progress: () => undefined,
    ask: async (): Promise<FormAnswer> => ({ action: "cancel" }),
  });
  await expect(answer).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
    message: "The request is too long for a form: it has more than 20000 characters. Nothing was answered.",
  });
});
