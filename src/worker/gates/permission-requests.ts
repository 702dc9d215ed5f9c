import type { PermissionDecision } from "../../agent/permissions/question.ts";
import type { PermissionAnswer, PermissionAsk } from "../../agent/turn/permitted-call.ts";
import type { Clock } from "../../os/clock.ts";
import { formatProtocol } from "../../protocol/messages.ts";
import { addRules, type PermissionResponse, verdictOf } from "../../protocol/permission-messages.ts";
import { permissionRequestId } from "../../protocol/request-ids.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import type { TeamRef } from "../../team/ref.ts";
import { changePreview } from "../../team/requests/change-preview.ts";
import { answerRequest, closeRequest, openRequest, readAnswer } from "../../team/requests/requests.ts";
import type { StatusKeeper } from "../status-record.ts";
import type { ShownAsk, WorkerView } from "../view.ts";

/** What a person's line says to a call that waits for a permission. */
interface TypedAnswer {
  readonly word: "yes" | "no" | "always";
  /** Goes to the model with the answer; empty without one. */
  readonly note: string;
}

const WORDS: Readonly<Record<string, TypedAnswer["word"]>> = { y: "yes", n: "no", a: "always" };

/**
 * Reads `y`, `n` or `a`, alone or with a note behind a comma, colon or semicolon; `yes` and `no` with any words behind.
 * @returns undefined for every other line: a sentence that begins with the article “a” allows nothing, let alone for ever
 */
export function readTypedAnswer(line: string): TypedAnswer | undefined {
  const [, marked, , note] = /^\s*(y|yes|n|no|a|always)\s*[.!]?\s*([,:;]\s*(.*))?$/i.exec(line) ?? [];
  const [, open, rest = ""] = /^\s*(yes|no)\s+(.*)$/i.exec(line) ?? [];
  const said = marked ?? open;
  const word = WORDS[said?.charAt(0).toLowerCase() ?? ""];
  return word && { word, note: (marked === undefined ? rest : (note ?? "")).trim() };
}

interface DeskOptions {
  readonly ref: TeamRef;
  readonly agent: string;
  readonly color?: string | undefined;
  /** The lead's own asks go to nobody's inbox: they wait for the person alone. */
  readonly isLead: boolean;
  readonly view: WorkerView;
  readonly status: StatusKeeper;
  readonly clock: Clock;
}

interface Open {
  readonly id: string;
  /** One line of whose call it is, and what it does. */
  readonly summary: string;
  readonly shown: ShownAsk;
  /** What would be decided on it now. */
  again(): PermissionDecision;
  settle(answer: PermissionAnswer): void;
}

/** Characters of what a subagent does that stand before its call. */
const MAX_WHOSE = 60;

/**
 * Where a tool call waits for a yes or a no: it shows in the agent's own pane and on the lead's side, and the first
 * answer counts (protocol.md section 4).
 */
export class PermissionRequests {
  readonly #options: DeskOptions;
  readonly #open: Open[] = [];
  readonly #always: string[] = [];

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  async ask(request: PermissionAsk, signal: AbortSignal): Promise<PermissionAnswer> {
    const { ref, agent, clock } = this.#options;
    const now = clock.now();
    const id = permissionRequestId(now);
    const whose = request.whose === undefined ? "" : `${request.whose.slice(0, MAX_WHOSE)}: `;
    const summary = `${whose}${request.tool}(${request.summary})`;
    openRequest(ref, {
      id,
      kind: "permission",
      from: agent,
      summary,
      payload: { ...request },
      at: now,
    });
    try {
      return await this.#wait(id, summary, request, signal, () => this.#tellLead(id, request, now));
    } finally {
      closeRequest(ref, id);
    }
  }

  /** Rules that a person made with “always”, for as long as this agent runs. */
  get allowedHere(): readonly string[] {
    return this.#always;
  }

  /** Adds rules that a person made. */
  allow(rules: readonly string[]): void {
    this.#always.push(...rules.filter((rule) => !this.#always.includes(rule)));
  }

  /** Whether a question is open here, so that a typed line is its answer. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /**
   * A line typed in the pane: the answer to the call that is shown, which is the oldest that waits.
   * @returns false when it is no answer; the pane says so, and where it is one that cannot be had
   */
  async typed(line: string): Promise<boolean> {
    const open = this.#open[0];
    if (open === undefined) return false;
    const said = readTypedAnswer(line);
    if (said === undefined) {
      this.#options.view.note(`no answer, and kept for later; ${open.summary} still waits for y, n or a`);
      return false;
    }
    const { word, note } = said;
    if (word === "always" && open.shown.rules.length === 0) {
      this.#options.view.note(`no rule can allow ${open.summary} from now on; answer y or n`);
      return true;
    }
    const approve = word !== "no";
    const answer = { approve, note, by: "pane", at: this.#options.clock.now() };
    if ((await answerRequest(this.#options.ref, open.id, answer)) === "answered") {
      if (word === "always") this.allow(open.shown.rules);
      open.settle({ allowed: approve, ...(note === "" ? {} : { note }) });
    }
    await this.reconsider();
    return true;
  }

  /** The agent's mode or rules have changed: what they allow or refuse by now waits for nobody any more. */
  async reconsider(): Promise<void> {
    const { ref, clock } = this.#options;
    for (const open of [...this.#open]) {
      const { behavior, reason } = open.again();
      if (behavior === "ask" || !this.#open.includes(open)) continue;
      const approve = behavior === "allow";
      const answer = { approve, note: reason, by: "rights", at: clock.now() };
      if ((await answerRequest(ref, open.id, answer)) !== "answered") continue;
      open.settle({ allowed: approve, ...(approve ? {} : { note: reason }) });
    }
  }

  /** Answers everything that is open with no: the worker is asked to end, and nobody has to be waited for. */
  refuseAll(note: string): void {
    for (const open of [...this.#open]) open.settle({ allowed: false, note });
  }

  /** The lead side's answer; one for a request that is not open is late and counts for nothing. */
  answered(message: PermissionResponse): void {
    const { requestId, allowed, note, rules, input } = verdictOf(message);
    const open = this.#open.find(({ id }) => id === requestId);
    if (open === undefined) return;
    this.allow(rules);
    open.settle(defined({ allowed, note, input }));
  }

  /**
   * The lead's own questions are answered beside its pane too, and nobody writes it a message of that: the file says it. So
   * it does where the one who answered a teammate ended before the message was written.
   */
  lookForAnswers(): void {
    for (const open of [...this.#open]) {
      const answer = readAnswer(this.#options.ref, open.id);
      if (answer === undefined) continue;
      if (answer.approve) this.allow(answer.always ?? []);
      open.settle({ allowed: answer.approve, ...(answer.note ? { note: answer.note } : {}) });
    }
  }

  /** What waits has changed: the state says so, and the pane asks for one thing at a time, so that an answer is to what it shows. */
  #changed(before: Open | undefined): void {
    const { view, status } = this.#options;
    status.asks(this.#open.map(({ summary }) => summary));
    const next = this.#open[0];
    if (next !== undefined && next !== before) view.permission(next.shown);
  }

  /** Listens before anybody is told, so that no answer is early. */
  #wait(
    id: string,
    summary: string,
    request: PermissionAsk,
    signal: AbortSignal,
    tell: () => Promise<void>,
  ): Promise<PermissionAnswer> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        const [shown] = this.#open;
        const at = this.#open.indexOf(entry);
        if (at < 0) return;
        this.#open.splice(at, 1);
        this.#changed(shown);
      };
      const fail = (reason: unknown): void => {
        reject(reason);
        leave();
      };
      const onAbort = (): void => fail(signal.reason);
      const entry: Open = {
        id,
        summary,
        shown: shownOf(id, request),
        again: request.again,
        settle(answer) {
          resolve(answer);
          leave();
        },
      };
      const [shown] = this.#open;
      this.#open.push(entry);
      this.#changed(shown);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
      else tell().catch(fail);
    });
  }

  async #tellLead(id: string, request: PermissionAsk, now: number): Promise<void> {
    const { ref, agent, color, isLead } = this.#options;
    if (isLead) return;
    const text = formatProtocol(requestMessage(id, agent, request), new Date(now));
    await sendMessage(ref, { from: agent, to: LEAD_NAME, text, ...(color === undefined ? {} : { color }) });
  }
}

function shownOf(id: string, { tool, summary, whose, reason, rules, input }: PermissionAsk): ShownAsk {
  return {
    id,
    tool,
    summary,
    whose: whose?.slice(0, MAX_WHOSE),
    reason,
    rules,
    change: changePreview(tool, input),
  };
}

/** A host of the network is asked for in a form of its own (protocol.md section 4). */
function requestMessage(
  id: string,
  agent: string,
  { tool, toolUseId, reason, input, access, rules, guarded }: PermissionAsk,
): Parameters<typeof formatProtocol>[0] {
  // Ours: the lead's side can say no to it, and only a person yes.
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
