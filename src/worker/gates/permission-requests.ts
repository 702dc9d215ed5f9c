import type { PermissionDecision } from "../../agent/permissions/question.ts";
import type { PermissionAnswer, PermissionAsk } from "../../agent/turn/permission.ts";
import { steadyNow } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import { addRules, type PermissionResponse, verdictOf } from "../../protocol/permission-messages.ts";
import { permissionRequestId } from "../../protocol/request-ids.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { answerRequest, closeRequest, openRequest, readAnswer } from "../../team/requests/requests.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { WorkerContext } from "../context.ts";
import { type PermissionPrompt, REQUEST_GUARD_MS } from "../view.ts";
import { wholeChange, withChange } from "./request-change.ts";
import { readTypedAnswer } from "./typed-answer.ts";

interface OpenRequest {
  readonly id: string;
  /** One line: the caller if it is a subagent, and the call. */
  readonly summary: string;
  readonly prompt: PermissionPrompt;
  /** The input of the call. */
  readonly input: PermissionAsk["input"];
  /** Whether the pane has shown all of it: only then can it be allowed there. */
  isSeen: boolean;
  /** When the pane last showed it, in milliseconds of the steady clock. */
  shownAt: number;
  /** Decides the call again with the current mode and rules. */
  decideAgain(): PermissionDecision;
  settle(answer: PermissionAnswer): void;
}

/** Note of a refusal because of a shutdown request. */
const SHUTDOWN_REQUESTED = "A shutdown was requested.";

/** Maximum length of a subagent's description, in characters. */
const MAX_SUBAGENT = 60;

/**
 * The open permission requests of an agent. Each is shown in the agent's pane and on the lead's side; the first answer counts
 * (protocol.md section 4).
 */
export class PermissionRequests {
  readonly #context: WorkerContext;
  readonly #open: OpenRequest[] = [];
  readonly #sessionRules: string[] = [];

  constructor(context: WorkerContext) {
    this.#context = context;
  }

  /** Asks for permission; refuses while a shutdown request waits. Rejects when the signal aborts. */
  async ask(asked: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer> {
    const { ref, name, clock, queue } = this.#context;
    const request = await withChange(asked);
    // A shutdown request refuses only the open requests, so nothing is awaited between this check and the opening.
    if (queue.hasShutdown) return { allowed: false, note: SHUTDOWN_REQUESTED };
    const now = clock.now();
    const id = permissionRequestId(now);
    const caller =
      request.subagentTask === undefined ? "" : `${shortened(request.subagentTask, MAX_SUBAGENT)}: `;
    const summary = `${caller}${request.tool}(${request.summary})`;
    openRequest(ref, {
      id,
      kind: "permission",
      from: name,
      summary,
      payload: { ...request },
      at: now,
    });
    try {
      return await this.#waitForAnswer(id, summary, request, signal, () =>
        this.#sendToLead(id, request, now),
      );
    } finally {
      closeRequest(ref, id);
    }
  }

  /** Rules that a person added with “always”, valid while this agent runs. */
  get sessionRules(): readonly string[] {
    return this.#sessionRules;
  }

  /** Adds rules of a person. */
  allow(rules: readonly string[]): void {
    this.#sessionRules.push(...rules.filter((rule) => !this.#sessionRules.includes(rule)));
  }

  /** Whether a request is open: a typed line may be its answer. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /**
   * Takes a line typed in the pane as the answer to the request that is shown, the oldest one.
   * @param begun when its first character was typed, in milliseconds of the steady clock; omitted for a key that answers it
   * @param earliest the earliest possible time of its first character, which counts for an answer with a note
   * @returns `early` for an answer with a note that may be older than the request, `other` for a line that is not an answer: neither is
   * used up. The pane says why, and refuses an “always” that no rule can express.
   */
  async answerFromLine(line: string, begun?: number, earliest = begun): Promise<"used" | "early" | "other"> {
    const open = this.#open[0];
    if (open === undefined) return "other";
    const typed = readTypedAnswer(line);
    if (typed === undefined) {
      this.#refuse(`not an answer, so kept for later; ${open.summary} is still waiting for y, n or a`);
      return "other";
    }
    const { verdict, note } = typed;
    // A bare key has no other meaning; a sentence that begins with “yes” may have one.
    const isKey = note === "";
    const from = isKey ? begun : earliest;
    if (from !== undefined && from < open.shownAt + REQUEST_GUARD_MS) {
      const when = from === begun ? "begun" : "perhaps begun";
      const what = isKey ? "type it again" : "it is kept for later; answer y or n";
      this.#refuse(`${when} before ${open.summary} could be read, so not its answer; ${what}`);
      return isKey ? "used" : "early";
    }
    if (verdict === "always" && open.prompt.rules.length === 0) {
      this.#refuse(`no rule can allow ${open.summary} in the future; answer y or n`);
      return "used";
    }
    if (verdict !== "no" && !open.isSeen) {
      this.#showWhole(open);
      return "used";
    }
    const approve = verdict !== "no";
    const answer = { approve, note, by: "pane", at: this.#context.clock.now() };
    if ((await answerRequest(this.#context.ref, open.id, answer)) === "answered") {
      if (verdict === "always") this.allow(open.prompt.rules);
      open.settle({ allowed: approve, ...(note === "" ? {} : { note }) });
    }
    await this.reconsider();
    return "used";
  }

  /** Says why a typed line is not the answer. */
  #refuse(why: string): void {
    this.#context.view.note(why, "typed-line");
  }

  /** Shows all of a request whose first view was shortened; it still waits for its answer. */
  #showWhole(open: OpenRequest): void {
    const { prompt, input } = open;
    const change = wholeChange(prompt, input);
    open.isSeen = this.#context.view.permission({ ...prompt, change, whole: true });
    open.shownAt = steadyNow();
  }

  /** Settles the requests that a changed mode or rule decides now. */
  async reconsider(): Promise<void> {
    const { ref, clock } = this.#context;
    for (const open of [...this.#open]) {
      const { behavior, reason } = open.decideAgain();
      if (behavior === "ask" || !this.#open.includes(open)) continue;
      const approve = behavior === "allow";
      const answer = { approve, note: reason, by: "rights", at: clock.now() };
      if ((await answerRequest(ref, open.id, answer)) !== "answered") continue;
      open.settle({ allowed: approve, ...(approve ? {} : { note: reason }) });
    }
  }

  /** Refuses all open requests, for a shutdown request: the worker must not wait for a person. */
  refuseAll(): void {
    for (const open of [...this.#open]) open.settle({ allowed: false, note: SHUTDOWN_REQUESTED });
  }

  /** Takes an answer of the lead's side; a late one, for a request that is not open, has no effect. */
  handleResponse(message: PermissionResponse): void {
    const { requestId, allowed, note, rules, input } = verdictOf(message);
    const open = this.#open.find(({ id }) => id === requestId);
    if (open === undefined) return;
    this.allow(rules);
    open.settle(defined({ allowed, note, input }));
  }

  /**
   * Reads answers from the request files. A lead's own request gets no message if it is answered outside its pane, nor does a
   * teammate's if the answering process ended before it wrote one.
   */
  readAnswers(): void {
    for (const open of [...this.#open]) {
      const answer = readAnswer(this.#context.ref, open.id);
      if (answer === undefined) continue;
      if (answer.approve) this.allow(answer.always ?? []);
      open.settle({ allowed: answer.approve, ...(answer.note ? { note: answer.note } : {}) });
    }
  }

  /** Updates the status, and shows one request at a time, so that an answer is for the request in the pane. */
  #onOpenChanged(before: OpenRequest | undefined): void {
    const { view, status } = this.#context;
    status.setOpenRequests(this.#open.map(({ summary }) => summary));
    const next = this.#open[0];
    if (next === before) return;
    if (next === undefined) {
      view.permissionClosed();
      return;
    }
    next.isSeen = view.permission(next.prompt);
    next.shownAt = steadyNow();
  }

  /** Opens the request before it is sent, so that an early answer finds it. */
  #waitForAnswer(
    id: string,
    summary: string,
    request: PermissionAsk,
    signal: AbortSignal,
    send: () => Promise<void>,
  ): Promise<PermissionAnswer> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        const [shown] = this.#open;
        const at = this.#open.indexOf(entry);
        if (at < 0) return;
        this.#open.splice(at, 1);
        this.#onOpenChanged(shown);
      };
      const fail = (reason: unknown): void => {
        reject(reason);
        leave();
      };
      const onAbort = (): void => fail(signal.reason);
      const entry: OpenRequest = {
        id,
        summary,
        prompt: promptOf(id, request),
        input: request.input,
        isSeen: false,
        shownAt: Number.POSITIVE_INFINITY,
        decideAgain: request.decideAgain,
        settle(answer) {
          resolve(answer);
          leave();
        },
      };
      const [shown] = this.#open;
      this.#open.push(entry);
      this.#onOpenChanged(shown);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else send().catch(fail);
    });
  }

  async #sendToLead(id: string, request: PermissionAsk, now: number): Promise<void> {
    const { ref, name, color, role } = this.#context;
    if (role === "lead") return;
    const text = formatProtocol(requestMessage(id, name, request), new Date(now));
    await sendMessage(ref, { from: name, to: LEAD_NAME, text, ...(color === undefined ? {} : { color }) });
  }
}

function promptOf(
  id: string,
  { tool, toolUseId: call, summary, path, subagentTask: work, reason, rules, change = [] }: PermissionAsk,
): PermissionPrompt {
  const subagent = work && shortened(work, MAX_SUBAGENT);
  return { id, call, tool, summary, path, subagent, reason, rules, change };
}

/** A network host has its own message type (protocol.md section 4). */
function requestMessage(
  id: string,
  agent: string,
  { tool, toolUseId, reason, input, access, rules, guarded }: PermissionAsk,
): Parameters<typeof formatProtocol>[0] {
  // Ours: the lead's side may refuse it; only a person may allow it.
  const own = guarded ? { guarded } : {};
  if (access.kind === "host")
    return { type: "sandbox_permission_request", requestId: id, host: access.host, ...own };
  return {
    ...own,
    type: "permission_request",
    request_id: id,
    agent_id: agent,
    tool_name: tool,
    tool_use_id: toolUseId,
    description: reason,
    input,
    permission_suggestions: rules.length === 0 ? [] : [addRules(rules, "session")],
  };
}
