import { parseRule } from "../../agent/permissions/rules.ts";
import { TeamError } from "../../errors.ts";
import { type Approval, type ApprovalAnswer, answerApproval } from "../../operations/approvals/approvals.ts";
import type { PeerRules } from "../../operations/approvals/peer-rules.ts";
import type { OperationContext } from "../../operations/context.ts";
import { isCrashId } from "../../protocol/request-ids.ts";
import type { RuleChange } from "../../settings/save-rule.ts";
import { loadSettings } from "../../settings/settings.ts";
import type { SettingsScope } from "../../settings/settings-files.ts";
import { readTeam } from "../../team/config/config.ts";
import { peerTitle } from "../../team/members/peer-abilities.ts";
import { type RequestRecord, readRequest, suggestedRules } from "../../team/requests/requests.ts";
import { line } from "../../terminal/output.ts";
import type { Caller } from "../caller.ts";
import { filesContext, operationContext } from "../operation-context.ts";
import { deciderOf, type OpenTeam } from "../select-team.ts";

/** Options of `approve` that also allow later calls. */
export interface AlwaysAllow {
  /** The rules to add; if empty, the rules that the request suggests. */
  readonly rules: readonly string[];
  /** The settings file for the rules; without it only the asking agent has them, until it ends. */
  readonly save: SettingsScope | undefined;
}

export interface GivenAnswer {
  readonly approval: Approval;
  /** The rules that were added, and their file; null if only the asker has them. `covers` is false if they do not cover the request. */
  readonly saved?: {
    readonly rules: readonly string[];
    readonly file: string | null;
    readonly covers?: boolean;
  };
  /** Lines about the calls that are allowed from now on. */
  readonly rules: readonly string[];
  /** Lines about the limits of these rules: foreign members that did not get them, or this request. */
  readonly withoutRules: readonly string[];
}

/**
 * Answers an open request, and adds its rules if `always` is given.
 * @param signal aborts the restart of a crashed teammate
 * @throws TeamError ALREADY_ANSWERED or REQUEST_NOT_FOUND if another answer came first, and others of `answerApproval`
 */
export async function giveAnswer(
  call: Caller,
  open: OpenTeam,
  id: string,
  answer: Pick<ApprovalAnswer, "approve" | "mode" | "note">,
  always?: AlwaysAllow,
  signal?: AbortSignal,
): Promise<GivenAnswer> {
  const { io } = call;
  // A crashed agent is restarted, or removed with its pane: only the full context can do that.
  const ctx = isCrashId(id)
    ? await operationContext(call, open, loadSettings(open.home.root, io.cwd))
    : filesContext(call, open);
  const request = always && readRequest(open.ref, id);
  const rules = request && rulesFor(request, always);
  const asker = request && (await askerOf(ctx, request));
  // Checked before the answer, saved after it: another answer may have come first.
  const change = rules && (await ruleChangeFor(open, id, rules, always?.save, deciderOf(io.env)));
  const approval = await answerApproval(
    ctx,
    id,
    {
      ...answer,
      decider: deciderOf(io.env),
      ...(rules && { always: { rules, destination: change?.destination ?? "session" } }),
    },
    signal,
  );
  const withoutRules: string[] = [];
  if (change !== undefined) {
    await change.save().catch((error: unknown) => {
      throw withAnswerGiven(error);
    });
    const { shareRules } = await import("../../operations/approvals/share-rules.ts");
    await shareRules(ctx, change.rules, {
      asker: approval.from,
      directory: change.directory,
      onPeer: (peer) => withoutRules.push(withoutRulesLine(peer)),
    }).catch((error: unknown) => {
      throw withAnswerGiven(error);
    });
  }
  if (rules === undefined) return { approval, rules: [], withoutRules };
  const isTooNarrow = request !== undefined && (await isUncovered(ctx, request, rules));
  if (isTooNarrow)
    withoutRules.push(
      line`This request is not covered by ${rules.join(", ")}: ${approval.from} will ask for it again.`,
    );
  const saved = {
    ...{ rules, file: change?.file ?? null },
    ...(isTooNarrow && { covers: false }),
    ...keptBy(asker),
  };
  return { approval, saved, rules: rulesLines(approval.from, saved, asker), withoutRules };
}

/** Returns the error of rules that could not be saved, with the changes made before. */
function withAnswerGiven(error: unknown): unknown {
  if (!(error instanceof TeamError)) return error;
  const { code, message, hint, details, cause } = error;
  return new TeamError(code, `The request was answered. ${message}`, {
    ...(hint !== undefined && { hint }),
    ...(details && { details }),
    cause,
  });
}

/** Returns whether the program of a foreign asker keeps rules, null if that is unknown; nothing for another asker. */
function keptBy(asker: PeerRules | undefined): { readonly kept?: boolean | null } {
  if (asker === undefined) return {};
  return { kept: asker.keeps === "unknown" ? null : asker.keeps === "yes" };
}

/** Whether no rule would have allowed the request: a person may overlook that. */
async function isUncovered(
  { ref, env }: OperationContext,
  { from, payload }: RequestRecord,
  rules: readonly string[],
): Promise<boolean> {
  const member = readTeam(ref).members.find(({ name }) => name === from);
  if (member === undefined || typeof payload.tool !== "string") return false;
  const { doRulesCover } = await import("../../operations/approvals/foreign-rules.ts");
  return doRulesCover(rules, payload.tool, payload.input, { cwd: member.cwd, env }) === false;
}

/** Loads the code for foreign members only for a request of one. */
async function askerOf(ctx: OperationContext, request: RequestRecord): Promise<PeerRules | undefined> {
  const { rulesOfPeer } = await import("../../operations/approvals/peer-rules.ts");
  const peer = await rulesOfPeer(ctx, request.from);
  // The program does not get the rules in the answer to a request for a host.
  return peer && request.payload.access !== undefined ? { ...peer, keeps: "no" } : peer;
}

/** Describes the calls that are allowed from now on, and whether the program of a foreign asker keeps that. */
function rulesLines(
  from: string,
  { rules, file }: { readonly rules: readonly string[]; readonly file: string | null },
  asker: PeerRules | undefined,
): string[] {
  const list = rules.join(", ");
  const keeps = asker?.keeps ?? "yes";
  const saved = line`saved in ${file ?? ""}: ${list}`;
  if (keeps === "yes")
    return [
      file === null
        ? line`Allowed without asking until ${from} ends: ${list}`
        : line`Allowed without asking, ${saved}`,
    ];
  const own =
    keeps === "no"
      ? line`${peerTitle(asker?.version)} ignores rules in an answer: ${from} will ask again.`
      : line`Whether ${from} keeps the rules is unknown: claude 2.1.34 ignores them, 2.1.150 and newer keep them.`;
  return [...(file === null ? [] : [line`Allowed without asking for other agents, ${saved}`]), own];
}

/** The note on a foreign member that did not get rules, or may not accept them. */
function withoutRulesLine({ name, takes, version }: PeerRules): string {
  if (takes === "no")
    return line`${peerTitle(version)} does not accept rules while it runs: ${name} continues without them.`;
  return line`Whether ${name} accepts the rules while it runs is unknown: claude accepts them up to 2.1.200, and not since 2.1.250.`;
}

/** Returns the given rules, else the suggested ones. @throws TeamError INVALID_INPUT if no rule can allow the request */
function rulesFor(request: RequestRecord, { rules }: AlwaysAllow): readonly string[] {
  const { id, kind } = request;
  const refused = (why: string, hint: string): TeamError =>
    new TeamError("INVALID_INPUT", `${why} Nothing was sent.`, { hint });
  if (kind !== "permission")
    throw refused(`${id} is not a permission request.`, "Answer it without --always.");
  const invalid = rules.find((rule) => parseRule(rule) === undefined);
  if (invalid !== undefined)
    throw refused(
      `${JSON.stringify(invalid)} is not a rule.`,
      "Write a rule such as Edit, Bash(git:*) or Read(~/notes/**).",
    );
  if (rules.length > 0) return rules;
  const suggested = suggestedRules(request);
  if (suggested.length > 0) return suggested;
  throw refused(`No rule can allow what ${id} asks for.`, "Approve it without --always.");
}

async function ruleChangeFor(
  { home, config, ref }: OpenTeam,
  id: string,
  rules: readonly string[],
  save: SettingsScope | undefined,
  decider: "person" | "model",
): Promise<RuleChange | undefined> {
  if (save === undefined) return undefined;
  const { prepareRuleChange } = await import("../../settings/save-rule.ts");
  const { from } = readRequest(ref, id);
  const { cwd = "/" } = config.members.find(({ name }) => name === from) ?? {};
  return prepareRuleChange(home.root, cwd, save, rules, decider);
}
