import { dirname } from "node:path";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, readText } from "../../os/files/fs.ts";
import { formatProtocol, type MessageOf } from "../../protocol/messages.ts";
import { planRequestId } from "../../protocol/request-ids.ts";
import { permissionMode } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { planTitle } from "../../team/config/plan-files.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import {
  answerRequest,
  closeRequest,
  isAwaitingAnswer,
  openAndNotify,
  type RequestRecord,
  readAnswer,
  requestsOf,
} from "../../team/requests/requests.ts";
import type { WorkerContext } from "../context.ts";

const RELEASED =
  "[from teams]\nYour permission mode was changed: your plan no longer needs approval. Carry it out.";

/** The agent's permission mode and its open plan: no step of a plan runs before the matching approval (S64). */
export class PlanApproval {
  readonly planFile: string;
  readonly #context: WorkerContext;
  #mode: PermissionMode;
  #changedMode: PermissionMode | undefined;
  /** The mode before plan mode: an approval that names no mode restores it. */
  #modeAfterPlan: PermissionMode;
  #request: string | undefined;
  /** The message with the verdict, until the conversation has it. */
  #verdict: { readonly key: string; readonly requestId: string } | undefined;
  #whyForbidden: (mode: PermissionMode) => string | undefined = () => undefined;

  constructor(context: WorkerContext) {
    this.#context = context;
    this.#mode = context.initialMode;
    this.#modeAfterPlan = context.modeAfterPlan;
    this.planFile = context.planFile;
  }

  get mode(): PermissionMode {
    return this.#whyForbidden(this.#mode) === undefined ? this.#mode : "default";
  }

  /** @param whyForbidden returns why a mode is forbidden, if it is; such a mode counts as `default`, whatever its source */
  restrictModes(whyForbidden: (mode: PermissionMode) => string | undefined): void {
    this.#whyForbidden = whyForbidden;
  }

  /** The mode if it was set in this process, even to the initial one. */
  get changedMode(): PermissionMode | undefined {
    return this.#changedMode;
  }

  /** Id of the plan request that waits for its verdict. */
  get request(): string | undefined {
    return this.#request;
  }

  get isWaiting(): boolean {
    return this.#request !== undefined;
  }

  /** @returns why the mode is forbidden; undefined if it was set */
  setMode(mode: PermissionMode): string | undefined {
    const why = this.#whyForbidden(mode);
    if (why !== undefined) return why;
    if (mode === "plan" && this.#mode !== "plan") this.#modeAfterPlan = this.#mode;
    this.#change(mode);
    if (mode !== "plan") this.#release();
    return undefined;
  }

  /** Leaving plan mode counts as the answer to an open plan. */
  #release(): void {
    if (this.#request === undefined) return;
    closeRequest(this.#context.ref, this.#request);
    this.#request = undefined;
    this.#context.status.report("plan_answered");
    this.#instructRelease();
  }

  #instructRelease(): void {
    this.#context.queue.addInstruction(RELEASED, this.#context.wake);
  }

  /**
   * Sends the written plan to the lead.
   * @param written the plan of an agent that cannot write the plan file
   * @returns the request's id, or why the plan is not sent
   */
  async submit(written?: string): Promise<{ readonly requestId: string } | { readonly refusal: string }> {
    if (this.#mode !== "plan")
      return { refusal: "You are not in plan mode, so no plan was sent; your work needs no approval." };
    if (this.#request !== undefined)
      return { refusal: `Your plan (${this.#request}) is already waiting for approval.` };
    if (written?.trim()) {
      ensureDir(dirname(this.planFile));
      replaceFile(this.planFile, written);
    }
    const plan = readText(this.planFile)?.trim();
    if (!plan) return { refusal: `There is no written plan; write it to ${this.planFile} first.` };
    const { ref, name, color, status, view, clock } = this.#context;
    const now = clock.now();
    const requestId = planRequestId(name, ref.team, now);
    const payload = { planFilePath: this.planFile, planContent: plan };
    const text = formatProtocol(
      { type: "plan_approval_request", requestId, from: name, ...payload },
      new Date(now),
    );
    // Set before sending: the verdict may arrive immediately.
    this.#request = requestId;
    try {
      await openAndNotify(
        ref,
        { id: requestId, kind: "plan", from: name, summary: planTitle(plan), payload, at: now },
        () => sendMessage(ref, defined({ from: name, to: LEAD_NAME, text, color })),
      );
    } catch (error) {
      this.#request = undefined;
      throw error;
    }
    if (this.#request === requestId) {
      status.report("plan_sent", "waits for approval of its plan");
      view.waiting("waits for the lead's approval of its plan", "lead", requestId);
    }
    return { requestId };
  }

  /**
   * Continues to wait for the verdict on a plan of an earlier process, if the plan was answered: the verdict is in the inbox, or
   * is sent at the next check. An unanswered plan ended with its process.
   */
  restoreAnsweredRequest(): void {
    const answered = this.#ownRequests().filter(({ id }) => readAnswer(this.#context.ref, id) !== undefined);
    this.#request = answered.at(-1)?.id;
  }

  /**
   * Closes plan requests of earlier processes, unless the conversation waits for their verdict.
   * @param waitsForVerdict the conversation ends with a sent plan: without a verdict it is sent again, unless the agent is no
   * longer in plan mode
   */
  async resume(waitsForVerdict: boolean): Promise<void> {
    const { ref, view } = this.#context;
    if (!waitsForVerdict) this.#request = undefined;
    for (const { id } of this.#ownRequests()) {
      if (id !== this.#request && id !== this.#verdict?.requestId) closeRequest(ref, id);
    }
    if (!waitsForVerdict || this.isWaiting || this.#verdict !== undefined) return;
    if (this.#mode !== "plan") return this.#instructRelease();
    const sent = await this.submit();
    if ("refusal" in sent) view.note(sent.refusal);
  }

  #ownRequests(): readonly RequestRecord[] {
    const { ref, name } = this.#context;
    return requestsOf(ref, name).filter(({ kind }) => kind === "plan");
  }

  /**
   * Takes a verdict. The answered request stays until the conversation has the verdict: if the process is killed before that,
   * the next one delivers it.
   * @param key of the verdict's message
   * @returns false, without effect, if the verdict does not name the open request
   */
  async handleVerdict(message: MessageOf<"plan_approval_response">, key: string): Promise<boolean> {
    if (this.#request === undefined || message.requestId !== this.#request) return false;
    const requestId = this.#request;
    this.#request = undefined;
    this.#verdict = { key, requestId };
    if (message.approved) this.#change(this.#approvedMode(message.permissionMode));
    // A failure is only shown (a full disk): the agent acts on the verdict, and then closes the request anyway.
    await this.#context.notifications.attempt(() => this.#recordAnswer(message));
    return true;
  }

  /** Closes the answered request. @param keys of the messages that the conversation has now */
  closeRecordedVerdict(keys: readonly string[]): void {
    if (this.#verdict === undefined || !keys.includes(this.#verdict.key)) return;
    closeRequest(this.#context.ref, this.#verdict.requestId);
    this.#verdict = undefined;
  }

  /** Records the answer: other programs answer with only a message, and the request must leave the list. */
  async #recordAnswer({ requestId, approved, feedback }: MessageOf<"plan_approval_response">): Promise<void> {
    const { ref, name, clock } = this.#context;
    if (!isAwaitingAnswer(ref, requestId, name)) return;
    const answer = defined({ approve: approved, by: LEAD_NAME, note: feedback, at: clock.now() });
    await answerRequest(ref, requestId, answer);
  }

  #change(mode: PermissionMode): void {
    const before = this.#mode;
    this.#mode = mode;
    this.#changedMode = mode;
    this.#context.view.mode(mode);
    if (mode !== before) this.#context.events.record({ type: "mode_changed", mode, before });
  }

  /** Returns the mode after an approval: the named one, else the one before plan mode; `plan` and `delegate` become `default`. */
  #approvedMode(named: string | undefined): PermissionMode {
    const parsed = permissionMode.safeParse(named);
    const mode = parsed.success ? parsed.data : this.#modeAfterPlan;
    return mode === "plan" || mode === "delegate" ? "default" : mode;
  }
}
