import { RequestError } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { TeamError } from "../../../../src/errors.ts";
import { answering, NEEDS_LOGIN } from "../../../../src/runtime/acp/rpc-errors.ts";

const failing = (error: unknown): Promise<unknown> =>
  answering(RequestError)(() => Promise.reject(error)).catch((answer: unknown) => answer);

it.each([
  ["a wrong model name", new TeamError("INVALID_MODEL", "No."), -32602],
  ["a missing login", new TeamError("INVALID_MODEL", "No.", { details: NEEDS_LOGIN }), -32000],
  ["a missing session", new TeamError("TEAM_NOT_FOUND", "No."), -32002],
  ["a session that another process leads", new TeamError("ALREADY_LEADING", "No."), -32600],
  ["a failed model", new TeamError("MODEL_ERROR", "No."), -32603],
  ["a refused key of the model", new TeamError("MODEL_ERROR", "No.", { details: NEEDS_LOGIN }), -32000],
  ["a defect", new Error("No."), -32603],
])("an answer to a client › has the code of the protocol for %s", async (_, error, code) => {
  expect(await failing(error)).toMatchObject({ code, message: expect.stringContaining("No.") });
});

it("an answer to a client › names the next step, in one text without control characters", async () => {
  const error = new TeamError("INVALID_INPUT", "It is\u001b[31m wrong.", { hint: "Change it." });
  expect(await failing(error)).toMatchObject({
    message: "It is wrong. Change it.",
    data: { code: "INVALID_INPUT", hint: "Change it." },
  });
});
