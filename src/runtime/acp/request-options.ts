import type { PermissionOption } from "@agentclientprotocol/sdk";
import type { ApprovalAnswer, ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { defaultLine, numbered } from "../../operations/approvals/request-texts.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import { MAX_TITLE } from "./limits.ts";
import { oneLine } from "./tool-call.ts";

/** An option of a request, with its answer. */
export interface RequestOption extends PermissionOption {
  readonly answer: ApprovalAnswer;
}

/** Returns the options of a client's user for an open request. A question without choices can only be accepted or rejected. */
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

function alwaysOption(request: ApprovalDetails): RequestOption[] {
  const { always = [] } = request;
  if (always.length === 0) return [];
  const answer = { approve: true, always: { rules: always, destination: "session" } } as const;
  return [{ optionId: "always", name: label(alwaysText(request)), kind: "allow_always", answer }];
}

function alwaysText({ always = [], from }: ApprovalDetails): string {
  return `Always allow ${always.join(", ")} until ${from} ends`;
}

/** Returns a line for each text that the name of its option cuts, and for a default that becomes the answer at the deadline. */
export function cutOptions(request: ApprovalDetails): readonly string[] {
  const { kind, always = [], choices = [], default: byDefault, deadline } = request;
  if (kind === "permission")
    return always.length === 0 || isWhole(alwaysText(request)) ? [] : always.map((rule) => `always: ${rule}`);
  if (kind !== "question") return [];
  const shownChoices = choices.every(isWhole) ? [] : choices.map(numbered);
  const isNamed = choices.length > 0 || byDefault === undefined || isWhole(byDefault);
  return [...shownChoices, ...(isNamed && deadline === undefined ? [] : defaultLine(request))];
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

/** Whether a label shows every character of a text. */
function isWhole(text: string): boolean {
  return label(text) === revealHidden(text);
}

function label(text: string): string {
  return shortened(oneLine(text), MAX_TITLE);
}
