import { EXIT, TeamError } from "../../errors.ts";
import { approvalJson } from "../../operations/approvals/approval-json.ts";
import type { Approval, ApprovalAnswer } from "../../operations/approvals/approvals.ts";
import { chooseRequest, hasRequest } from "../../operations/approvals/choose-request.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import type { Env } from "../../os/env.ts";
import { isAgentsRequestId, isCrashId } from "../../protocol/request-ids.ts";
import { type AlwaysAllow, giveAnswer } from "../../runtime/commands/answer-request.ts";
import { type OpenTeam, openTeam, type Selection } from "../../runtime/select-team.ts";
import { defined } from "../../schema/defined.ts";
import { splitAddress } from "../../schema/names.ts";
import type { TeamEntry } from "../../team/config/config.ts";
import { teamAt, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { textOption } from "../option-values.ts";
import { confirmChosen } from "./confirm-chosen.ts";

/**
 * Answers a waiting request, as `approve` and `reject` do. On a terminal, asks first if the words did not name exactly one request.
 * @param wanted an id or its beginning, or the name of the member that asks; undefined: the oldest request
 * @param note the value of `--note`; `-` reads stdin
 */
export async function answerFromCommand(
  call: AnyCall,
  wanted: string | undefined,
  note: string | undefined,
  answer: Pick<ApprovalAnswer, "approve" | "mode">,
  always?: AlwaysAllow,
): Promise<number> {
  const { options, io, out } = call;
  const open = openTeamOfRequest(io.env, options, wanted);
  await openForeignRequests(open.ref, io.env);
  const id = chooseRequest(open.ref, wanted);
  if (isCrashId(id) && (always !== undefined || answer.mode !== undefined)) throw crashOptionsError(id);
  const text = await textOption(io, note, "note");
  const isAgreed = !answer.approve || id === wanted || (await confirmChosen(call, open.ref, id, text));
  if (!isAgreed) {
    io.out("Nothing was answered.\n");
    return EXIT.failed;
  }
  const given = await giveAnswer(call, open, id, defined({ ...answer, note: text }), always);
  const { approval, saved } = given;
  for (const peer of given.withoutRules) out.note(peer);
  out.done({ ...approvalJson(approval), approved: answer.approve, ...(saved && { always: saved }) }, () =>
    [doneLine(approval, answer.approve, id !== wanted), ...given.rules].join("\n"),
  );
  return EXIT.done;
}

/** Opens the team of a request. If the command names no team, the request's id or the asking member selects it. */
export function openTeamOfRequest(env: Env, selection: Selection, wanted: string | undefined): OpenTeam {
  if (wanted === undefined) return openTeam(env, selection);
  const home = teamsHome(env);
  const isIn = ({ team }: TeamEntry): boolean => hasRequest(teamAt(home, team), wanted);
  const words = isAgentsRequestId(wanted) ? { name: wanted } : splitAddress(wanted);
  return openTeam(env, selection, { ...words, isIn });
}

/** @param isChosen the user did not name this request by its id: the line must say which request it was */
export function doneLine({ kind, from, summary }: Approval, approve: boolean, isChosen: boolean): string {
  if (kind === "crash") return line`${from} ${approve ? "was restarted" : "was removed from the team"}.`;
  const word = kind === "question" ? "Answered" : approve ? "Approved" : "Rejected";
  return isChosen ? line`${word}: ${kind} of ${from}: ${summary}` : line`${word}: ${kind} of ${from}.`;
}

function crashOptionsError(id: string): TeamError {
  return new TeamError(
    "INVALID_INPUT",
    `${id} is a crash: approving it takes no options. Nothing was restarted.`,
    {
      hint: `Approve it without --mode, --always, --rule and --save: teams approve ${id}`,
    },
  );
}
