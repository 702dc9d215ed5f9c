import { TeamError } from "../../errors.ts";
import type { ApprovalDetails } from "../../operations/approvals/approvals.ts";
import { defaultLine, hiddenInput, numbered } from "../../operations/approvals/request-texts.ts";
import { follow } from "../../operations/follow-team.ts";
import type { TeamRef } from "../../team/ref.ts";
import { notOpenError } from "../../team/requests/answered-ids.ts";
import { listRequests } from "../../team/requests/requests.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { revealHidden } from "../../text/terminal-text.ts";
import type { ClientCall, ClientToolContext, Form, FormAnswer } from "./client-tool.ts";
import { withProgress } from "./progress.ts";

/** Maximum characters of a form: a person must see the whole request before answering. */
const MAX_FORM = 20_000;
/** Maximum characters of a person's note. */
const MAX_NOTE = 10_000;

interface Decision {
  readonly approve: boolean;
  readonly note?: string | undefined;
}

/**
 * Shows a request to the person who uses the client. The form is withdrawn when the request is answered elsewhere.
 * @returns undefined if the person does not decide
 * @throws TeamError PERMISSION_DENIED if no person can be asked, or the form cannot show the whole request; ALREADY_ANSWERED,
 * REQUEST_NOT_FOUND
 */
export async function askPerson(
  { ctx, hasPerson }: ClientToolContext,
  request: ApprovalDetails,
  call: ClientCall,
): Promise<Decision | undefined> {
  const { ask } = call;
  if (ask === undefined || !hasPerson) throw cannotAsk("Your client cannot show a form to a person");
  const form = formOf(request);
  if (form.message.length > MAX_FORM)
    throw cannotAsk(`The request is too long for a form: it has more than ${MAX_FORM} characters`);
  const answered = new AbortController();
  const signal = AbortSignal.any([call.signal, answered.signal]);
  const watching = watch(ctx.ref, request, signal, () => answered.abort());
  // Its failure is thrown after the form. Without this handler, it would end the process before.
  watching.catch(() => undefined);
  try {
    const given = await withProgress(call, "waiting for the person", () => ask(form, signal));
    return decisionOf(request, given);
  } catch (error) {
    if (answered.signal.aborted && !call.signal.aborted) throw notOpenError(ctx.ref, request.id);
    throw error;
  } finally {
    answered.abort();
    await watching;
  }
}

function cannotAsk(why: string): TeamError {
  return new TeamError("PERMISSION_DENIED", `${why}. Nothing was answered.`, {
    // A hint with a shell command would not reach the model.
    hint: "Ask the person to answer in the agent's pane, in the sidebar, or on the command line.",
  });
}

/** Calls `onAnswered` when the request is no longer open. A crash has no request file: its answer is checked later. */
async function watch(
  ref: TeamRef,
  { id, kind }: ApprovalDetails,
  signal: AbortSignal,
  onAnswered: () => void,
): Promise<void> {
  if (kind === "crash") return;
  const isAnswered = (): boolean => !listRequests(ref).some((one) => one.id === id);
  try {
    if ((await follow(ref, isAnswered, { signal })) === "done") onAnswered();
  } catch (error) {
    // The team was deleted, and its requests with it; the caller gets the same error when it answers.
    if (!(error instanceof TeamError)) throw error;
    onAnswered();
  }
}

function formOf(request: ApprovalDetails): Form {
  const { kind, choices = [] } = request;
  const note = { type: "string", title: "Note", maxLength: MAX_NOTE };
  if (kind !== "question") {
    const decision = { type: "string", title: "Decision", enum: ["approve", "reject"] };
    const fields = kind === "crash" ? { decision } : { decision, note };
    return { message: textOf(request), fields, required: ["decision"] };
  }
  const description = choices.length === 0 ? {} : { description: shortened(choices.join(" | "), MAX_NOTE) };
  const isOptional = request.default !== undefined;
  return {
    message: textOf(request),
    fields: { answer: { type: "string", title: "Answer", maxLength: MAX_NOTE, ...description } },
    required: isOptional ? [] : ["answer"],
  };
}

/** Returns the whole text of a request, with hidden characters made visible. */
function textOf(request: ApprovalDetails): string {
  const { kind, from, summary, reason, change = [], choices = [], question, planContent } = request;
  const input = hiddenInput(request);
  const parts = [
    `${from} · ${kind}`,
    summary,
    ...(reason === undefined ? [] : [reason]),
    ...(question === undefined || question === summary ? [] : [question]),
    ...(change.length === 0 ? [] : [change.join("\n")]),
    ...(planContent === undefined ? [] : [planContent]),
    ...(input === undefined ? [] : [input]),
    ...(kind === "crash" ? ["approve: restart the member; reject: remove it"] : []),
    [...choices.map(numbered), ...defaultLine(request)].join("\n"),
  ];
  return revealHidden(parts.filter((part) => part !== "").join("\n\n"));
}

function decisionOf({ kind }: ApprovalDetails, given: FormAnswer): Decision | undefined {
  if (given.action !== "accept") return undefined;
  const { decision, note, answer } = given.content;
  const text = (value: unknown): string | undefined =>
    typeof value === "string" && value !== "" ? value : undefined;
  if (kind === "question") return { approve: true, note: text(answer) };
  if (decision !== "approve" && decision !== "reject") return undefined;
  return { approve: decision === "approve", note: text(note) };
}
