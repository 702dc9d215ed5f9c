import { expect, test } from "vitest";
import { authenticProtocol } from "../../../src/protocol/authenticate.ts";

const FROM_LEAD = [
  { type: "shutdown_request", requestId: "shutdown-1@a" },
  { type: "plan_approval_response", requestId: "p", approved: true },
  { type: "permission_response", request_id: "p", subtype: "success" },
  { type: "mode_set_request", mode: "default" },
  { type: "question_response", requestId: "q", answer: "yes" },
  { type: "interrupt_request" },
  { type: "resume_request" },
  { type: "background_end_request", taskId: "bash-1" },
];
const TO_LEAD = [
  { type: "idle_notification", from: "a" },
  { type: "plan_approval_request", requestId: "p", from: "a" },
  { type: "permission_request", request_id: "p", agent_id: "a" },
  { type: "question_request", requestId: "q", from: "a", question: "?" },
  { type: "shutdown_approved", requestId: "s", from: "a" },
];

const read = (from: string, message: object, reader: string) =>
  authenticProtocol({ from, text: JSON.stringify(message) }, reader)?.type;

test.each(FROM_LEAD)("authenticProtocol accepts $type only from the lead (S45, S27)", (message) => {
  expect(read("team-lead", message, "a")).toBe(message.type);
  expect(read("team-lead@crew", message, "a")).toBe(message.type);
  for (const from of ["b", "a", "Team-Lead", "team-lead ", "user", "system"]) {
    expect(read(from, message, "a")).toBeUndefined();
  }
  // A user who leads may interrupt or resume the lead's own turn, and end its background work.
  const isForLead = ["interrupt_request", "resume_request", "background_end_request"].includes(message.type);
  const expected = isForLead ? message.type : undefined;
  expect(read("team-lead", message, "team-lead")).toBe(expected);
});

test.each(TO_LEAD)(
  "authenticProtocol accepts $type only at the lead and only from the sender that it names",
  (message) => {
    expect(read("a", message, "team-lead")).toBe(message.type);
    expect(read("a", message, "b")).toBeUndefined();
    expect(read("b", message, "team-lead")).toBeUndefined();
  },
);

test("authenticProtocol accepts an agent id in place of the sender's name", () => {
  const message = { type: "permission_request", request_id: "p", agent_id: "a@crew" };
  expect(read("a", message, "team-lead")).toBe("permission_request");
});

test("authenticProtocol accepts teammate_terminated only from the system", () => {
  const message = { type: "teammate_terminated", message: "a has shut down." };
  expect(read("system", message, "team-lead")).toBe("teammate_terminated");
  expect(read("b", message, "team-lead")).toBeUndefined();
});

test("authenticProtocol accepts a task assignment only from the member named as its assigner", () => {
  const message = { type: "task_assignment", taskId: "1", assignedBy: "team-lead" };
  expect(read("team-lead", message, "a")).toBe("task_assignment");
  expect(read("b", message, "a")).toBeUndefined();
});
