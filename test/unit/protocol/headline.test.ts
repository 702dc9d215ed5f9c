import { expect, test } from "vitest";
import { headlineOf } from "../../../src/protocol/render.ts";

test.each([
  ["\n\nFirst line\nsecond", undefined, "First line"],
  ["First line", "its summary", "its summary"],
  ["First line", " ", "First line"],
  [
    '{"type":"task_assignment","taskId":"3","subject":"Largest files"}',
    undefined,
    "assigns #3 Largest files",
  ],
  ['{"type":"idle_notification","from":"a","completedTaskId":"3"}', undefined, "idle, task #3 done"],
  [
    '{"type":"idle_notification","from":"a","completedTaskId":"3","completedStatus":"success"}',
    undefined,
    "idle, task #3 done",
  ],
  [
    '{"type":"idle_notification","from":"a","failureReason":"bad key\\nat x"}',
    undefined,
    "idle, failed: bad key",
  ],
  [
    '{"type":"shutdown_rejected","requestId":"r","from":"a","reason":"busy"}',
    undefined,
    "refuses to shut down: busy",
  ],
  ['{"type":"plan_approval_response","requestId":"r","approved":false}', undefined, "rejects the plan"],
  ['{"type":"unknown"}', undefined, '{"type":"unknown"}'],
])("headlineOf: %j with summary %j gives %j", (text, summary, shown) => {
  expect(headlineOf(text, summary)).toBe(shown);
});
