import type { Clock } from "../../os/clock.ts";
import { readText } from "../../os/files/fs.ts";
import { formatProtocol, type MessageOf } from "../../protocol/messages.ts";
import { planRequestId } from "../../protocol/request-ids.ts";
import { permissionMode } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { planTitle } from "../../team/config/plan-files.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { TeamRef } from "../../team/ref.ts";
import {
  answerRequest,
  closeRequest,
  isAwaitingAnswer,
  openAndNotify,
  type RequestRecord,
  readAnswer,
  requestsOf,
} from "../../team/requests/requests.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { WorkerView } from "../view.ts";

interface PlanGateOptions {
  readonly ref: TeamRef;
  readonly name: string;
  readonly color?: string | undefined;
  readonly mode: PermissionMode;
  readonly modeAfterPlan: PermissionMode;
  readonly planFile: string;
  readonly status: StatusKeeper;
  readonly view: WorkerView;
  readonly clock: Clock;
  /** Told when the plan that waited needs no verdict any more. @param words what the agent is to read then */
  onRelease?(words: string): void;
  /** Told of each change of the mode. */
  onMode?(mode: PermissionMode, before: PermissionMode): void;
}

const RELEASED =
  "[said by the system]\nYour permission mode was changed: your plan no longer needs approval. Carry it out.";

/** The agent's permission mode, and the plan that it waits with: nothing of a plan runs before the matching approval (S64). */
export class PlanApproval {
  readonly planFile: string;
  readonly #options: PlanGateOptions;
  #mode: PermissionMode;
  #given: PermissionMode | undefined;
  /** What an approval without a mode gives: the mode that it had before it was to plan. */
  #afterPlan: PermissionMode;
  #request: string | undefined;
  /** The message with the verdict that counts, until the conversation holds it. */
  #verdict: { readonly key: string; readonly requestId: string } | undefined;
  #forbidden: (mode: PermissionMode) => string | undefined = () => undefined;

  constructor(options: PlanGateOptions) {
    this.#options = options;
    this.#mode = options.mode;
    this.#afterPlan = options.modeAfterPlan;
    this.planFile = options.planFile;
  }

  get mode(): PermissionMode {
    return this.#forbidden(this.#mode) === undefined ? this.#mode : "default";
  }

  /** @param forbidden why a mode is not to be had here: it is none then, whoever gave it and however long ago */
  forbid(forbidden: (mode: PermissionMode) => string | undefined): void {
    this.#forbidden = forbidden;
  }

  /** The mode, where it was changed in this process, also back to the one that it began with. */
  get modeGiven(): PermissionMode | undefined {
    return this.#given;
  }

  /** The request for a plan that is with the lead, its verdict still out. */
  get request(): string | undefined {
    return this.#request;
  }

  get isWaiting(): boolean {
    return this.#request !== undefined;
  }

  /** @returns why it is not changed; undefined when it is */
  setMode(mode: PermissionMode): string | undefined {
    const why = this.#forbidden(mode);
    if (why !== undefined) return why;
    if (mode === "plan" && this.#mode !== "plan") this.#afterPlan = this.#mode;
    this.#change(mode);
    if (mode !== "plan") this.#release();
    return undefined;
  }

  /** Whoever takes plan mode away from an agent that waits with its plan has answered it. */
  #release(): void {
    if (this.#request === undefined) return;
    closeRequest(this.#options.ref, this.#request);
    this.#request = undefined;
    this.#options.status.happened("plan_answered");
    this.#options.onRelease?.(RELEASED);
  }

  /**
   * Sends the written plan to the lead.
   * @returns the request's id, or why there is nothing to send
   */
  async submit(): Promise<{ readonly requestId: string } | { readonly refusal: string }> {
    if (this.#mode !== "plan") return { refusal: "You are not in plan mode." };
    if (this.#request !== undefined)
      return { refusal: `Your plan (${this.#request}) already waits for its approval.` };
    const plan = readText(this.planFile)?.trim();
    if (!plan) return { refusal: `There is no written plan: write it to ${this.planFile} first.` };
    const { ref, name, color, status, view, clock } = this.#options;
    const now = clock.now();
    const requestId = planRequestId(name, ref.team, now);
    const payload = { planFilePath: this.planFile, planContent: plan };
    const text = formatProtocol(
      { type: "plan_approval_request", requestId, from: name, ...payload },
      new Date(now),
    );
    // Before it is sent: its verdict may be there at once.
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
      status.happened("plan_sent", "waits for approval of its plan");
      view.waiting("waits for the lead's word on its plan", "lead");
    }
    return { requestId };
  }

  /**
   * Waits on for what an earlier process of this agent had waited for, if that was answered: the verdict is in the inbox, or is
   * sent at the next look. What nobody had answered ended with that process.
   */
  takeUp(): void {
    const answered = this.#ownRequests().filter(({ id }) => readAnswer(this.#options.ref, id) !== undefined);
    this.#request = answered.at(-1)?.id;
  }

  /**
   * Ends what {@link takeUp} found and the conversation does not wait for.
   * @param waits whether the conversation ends with a plan that was sent: without a verdict it is sent once more, or needs none
   * where the agent has another mode by now
   */
  async goOn(waits: boolean): Promise<void> {
    const { ref, view, onRelease } = this.#options;
    if (!waits) this.#request = undefined;
    for (const { id } of this.#ownRequests()) {
      if (id !== this.#request && id !== this.#verdict?.requestId) closeRequest(ref, id);
    }
    if (!waits || this.isWaiting || this.#verdict !== undefined) return;
    if (this.#mode !== "plan") return onRelease?.(RELEASED);
    const sent = await this.submit();
    if ("refusal" in sent) view.note(sent.refusal);
  }

  #ownRequests(): readonly RequestRecord[] {
    const { ref, name } = this.#options;
    return requestsOf(ref, name).filter(({ kind }) => kind === "plan");
  }

  /**
   * Takes a verdict. Its request stays, as an answered one, until the conversation holds the verdict: an agent that is killed
   * before that is told by its next process.
   * @param key of the message that it came in
   * @returns false for one that names no open request: it does nothing
   */
  async answered(message: MessageOf<"plan_approval_response">, key: string): Promise<boolean> {
    if (this.#request === undefined || message.requestId !== this.#request) return false;
    const requestId = this.#request;
    this.#request = undefined;
    this.#verdict = { key, requestId };
    if (message.approved) this.#change(this.#approvedMode(message.permissionMode));
    await this.#writeDown(message);
    return true;
  }

  /** Told of the messages that the conversation holds by now. */
  recorded(keys: readonly string[]): void {
    if (this.#verdict === undefined || !keys.includes(this.#verdict.key)) return;
    closeRequest(this.#options.ref, this.#verdict.requestId);
    this.#verdict = undefined;
  }

  /** A peer answers with a message alone: what it answered is to leave the list all the same. */
  async #writeDown({ requestId, approved, feedback }: MessageOf<"plan_approval_response">): Promise<void> {
    const { ref, name, clock } = this.#options;
    if (!isAwaitingAnswer(ref, requestId, name)) return;
    const answer = defined({ approve: approved, by: LEAD_NAME, note: feedback, at: clock.now() });
    await answerRequest(ref, requestId, answer);
  }

  #change(mode: PermissionMode): void {
    const before = this.#mode;
    this.#mode = mode;
    this.#given = mode;
    if (mode !== before) this.#options.onMode?.(mode, before);
  }

  /** An approval without a mode gives the one from before the plan; `plan` and `delegate` become `default`. */
  #approvedMode(named: string | undefined): PermissionMode {
    const parsed = permissionMode.safeParse(named);
    const mode = parsed.success ? parsed.data : this.#afterPlan;
    return mode === "plan" || mode === "delegate" ? "default" : mode;
  }
}
