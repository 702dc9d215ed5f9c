import type { PermissionOption } from "@agentclientprotocol/sdk";
import type { ApprovalAnswer, ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { MAX_TITLE } from "./limits.ts";
import { oneLine } from "./tool-call.ts";

/** An option of a request, and the answer that it stands for. */
export interface RequestOption extends PermissionOption {
  readonly answer: ApprovalAnswer;
}

/** Returns what the user of a client can choose for an open request. A question without choices can only be agreed to or not. */
export function optionsOf(request: ApprovalDetails): readonly RequestOption[] {
  switch (request.kind) {
    case "permission":
      return [allow("allow", "Allow"), ...alwaysOption(request), reject("Reject")];
    case "plan":
      return [
        allow("approve", "Approve the plan"),
        {
          ...allow("approve-edits", "Approve, and allow its edits"),
          answer: { approve: true, mode: "acceptEdits" },
        },
        reject("Reject the plan"),
      ];
    case "crash":
      return [allow("restart", "Restart it"), reject("Remove it")];
    case "question":
      return questionOptions(request);
  }
}

function alwaysOption({ always = [], from }: ApprovalDetails): RequestOption[] {
  if (always.length === 0) return [];
  const name = oneLine(`Always allow ${always.join(", ")} until ${from} ends`);
  // Its user would allow rules that are not shown whole.
  if (isCutAsOption(name)) return [];
  const answer = { approve: true, always: { rules: always, destination: "session" } } as const;
  return [{ optionId: "always", name, kind: "allow_always", answer }];
}

function questionOptions({ choices = [], default: byDefault }: ApprovalDetails): RequestOption[] {
  if (choices.length > 0)
    return choices.map((choice, at) => ({
      ...allow(`choice-${at + 1}`, choice),
      answer: { approve: true, note: choice },
    }));
  if (byDefault !== undefined) return [allow("agree", byDefault), reject("No")];
  return [allow("yes", "Yes"), reject("No")];
}

function allow(optionId: string, name: string): RequestOption {
  return { optionId, name: label(name), kind: "allow_once", answer: { approve: true } };
}

function reject(name: string): RequestOption {
  return { optionId: "reject", name, kind: "reject_once", answer: { approve: false } };
}

/** Whether an option shows only a part of a text. */
export function isCutAsOption(text: string): boolean {
  return text.length > MAX_TITLE;
}

function label(text: string): string {
  return shortened(oneLine(text), MAX_TITLE);
}
