import { type Model, ModelError, type ModelEvent, type ModelRequest } from "../../agent/model/model.ts";
import type { AccountLimitWait, LastingLimit, LimitedModel } from "../../worker/gates/account-limit.ts";

/** A model and its account. */
export interface AccountModel extends LimitedModel {
  readonly port: Model;
}

interface LimitedModelOptions {
  readonly own: AccountModel;
  /** Returns the models to use meanwhile, in order. */
  readonly fallback: () => Promise<readonly AccountModel[]>;
  readonly autoResume: () => boolean;
  /** Whether its calls are not part of the agent's turn. */
  readonly isBackground: boolean;
  readonly wait: AccountLimitWait;
  readonly note: (text: string) => void;
}

/**
 * Wraps a model: if a call meets the account's limit, another model makes it, or it waits until the limit ends. A limit that another
 * agent has met counts, too.
 */
export function limitedModel(options: LimitedModelOptions): Model {
  const { own, wait, autoResume, isBackground, note } = options;
  let used = own;
  /** The limit that this agent has reported to its team. */
  let notified: LastingLimit | undefined;
  const notify = async (limit: LastingLimit, next: AccountModel | undefined): Promise<void> => {
    if (limit.at === notified?.at && next?.model === used.model) return;
    const what =
      next === undefined ? wait.sentence(limit, autoResume()) : wait.meanwhile(limit, next.port.name);
    notified = limit;
    await wait.notify(own, limit, what);
  };
  return {
    get name() {
      return used.port.name;
    },
    // Every model of a server has a window.
    get window() {
      return used.port.window as number;
    },
    get readsData() {
      return used.port.readsData === true;
    },
    cost: (usage) => used.port.cost?.(usage),
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      for (;;) {
        signal.throwIfAborted();
        const limit = await wait.limitOf(own);
        if (limit === undefined && used.model !== own.model) note(`continues with ${own.port.name} again`);
        let next: AccountModel | undefined = own;
        if (limit !== undefined) {
          const fallback = await chooseFallback(limit, await options.fallback(), wait);
          next = fallback.next;
          await notify(limit, next);
          if (next === undefined) await wait.wait(fallback.earliest, signal, autoResume, isBackground);
        }
        if (next === undefined) continue;
        used = next;
        const error = yield* callOnce(next, wait, request, signal);
        if (error === undefined) return;
        await wait.met(next, error);
      }
    },
  };
}

/** Returns the first fallback model without a limit; without any, the limit that ends first. */
async function chooseFallback(
  limit: LastingLimit,
  fallback: readonly AccountModel[],
  wait: AccountLimitWait,
): Promise<{ readonly next?: AccountModel; readonly earliest: LastingLimit }> {
  let earliest = limit;
  for (const next of fallback) {
    const met = await wait.limitOf(next);
    if (met === undefined) return { next, earliest };
    if (met.until < earliest.until) earliest = met;
  }
  return { earliest };
}

/** Makes one call. @returns the error of the limit that it met; undefined if it met none */
async function* callOnce(
  { port, ...which }: AccountModel,
  wait: AccountLimitWait,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, ModelError | undefined> {
  let hasText = false;
  try {
    for await (const event of port.stream(request, signal)) {
      if (event.type === "text") hasText = true;
      if (event.type === "restart") hasText = false;
      // Before the last event: the caller may stop reading after it.
      if (event.type === "message") await wait.passed(which);
      yield event;
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof ModelError) || error.kind !== "limited" || signal.aborted) throw error;
    if (hasText) yield { type: "restart" };
    return error;
  }
}
