import { expect, test } from "vitest";
import { formatProtocol, isCodeOnly, parseProtocol, plainText } from "../../../src/protocol/messages.ts";

const AT = new Date("2026-11-21T10:00:00.000Z");

test("parseProtocol reads what formatProtocol wrote, with its timestamp", () => {
  const text = formatProtocol({ type: "shutdown_request", requestId: "shutdown-1@a", from: "team-lead" }, AT);
  expect(parseProtocol(text)).toMatchObject({ type: "shutdown_request", requestId: "shutdown-1@a" });
  expect(JSON.parse(text).timestamp).toBe("2026-11-21T10:00:00.000Z");
});

test("parseProtocol requires only the type and the id of the request that is answered", () => {
  expect(parseProtocol('{"type":"idle_notification","idleReason":"task_complete","new":1}')).toMatchObject({
    idleReason: "task_complete",
    from: "",
    new: 1,
  });
  expect(parseProtocol('{"type":"shutdown_request"}')).toBeUndefined();
});

test.each([["hello"], ["{"], ["[]"], ['{"type":"unknown"}'], ['{"type":"constructor"}'], ["null"], ['"x"']])(
  "parseProtocol treats %j as plain text",
  (text) => {
    expect(parseProtocol(text)).toBeUndefined();
  },
);

test.each([
  ['{"type":"permission_response","request_id":"x","subtype":"success"}'],
  ['{"type":"plan_approval_response","requestId":"x","approved":true}'],
  ['  {"type":"shutdown_request","requestId":"x"}'],
  ['\n{"type":"something_of_a_newer_peer"}'],
  ['\ufeff{"type":"shutdown_request","requestId":"x"}'],
  ['\u00a0\u3000{"type":"shutdown_request","requestId":"x"}'],
  ['\u200b\u2060\u3164\ufe0f\u2800{"type":"shutdown_request","requestId":"x"}'],
  ['{\u00a0"type":\u2009"mode_set_request","mode":"default"}\u0085'],
  ['\x00{"type":"mode_set_request","mode":"default"}\x00'],
])("plainText prefixes a model's %j, so that it is not a protocol message (S72)", (text) => {
  expect(plainText(text)).toBe(`Text: ${text}`);
  expect(parseProtocol(plainText(text))).toBeUndefined();
});

test.each([
  ["hello"],
  ['{"a":1}'],
  ['{"type":5}'],
  ["{not json"],
  ['[{"type":"x"}]'],
  ["\ufeff{ a }"],
  ["\u00a0"],
])("plainText leaves %j unchanged", (text) => {
  expect(plainText(text)).toBe(text);
});

test("isCodeOnly is true for messages that only code handles, including those without effect", () => {
  const silent = [
    "permission_request",
    "permission_response",
    "sandbox_permission_request",
    "sandbox_permission_response",
    "mode_set_request",
    "team_permission_update",
    "shutdown_approved",
  ];
  expect(silent.every(isCodeOnly)).toBe(true);
  expect(parseProtocol('{"type":"team_permission_update","toolName":"Edit"}')).toBeDefined();
  expect(["shutdown_request", "task_assignment", "message"].some(isCodeOnly)).toBe(false);
});
