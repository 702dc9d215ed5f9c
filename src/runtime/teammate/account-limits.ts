import type { Adapter } from "../../adapter/adapter-schema.ts";
import type { AccountLimits } from "../../adapter/channel-agent-options.ts";
import { loginPlace } from "../../adapter/installed/login-place.ts";
import { ModelError } from "../../agent/model/model.ts";
import type { Env } from "../../os/env.ts";
import { sha256 } from "../../protocol/sha256.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { LastingLimit, LimitedModel } from "../../worker/gates/account-limit.ts";
import type { Worker } from "../../worker/worker.ts";

interface LimitedCli {
  readonly worker: Worker;
  /** Of the CLI. */
  readonly env: Env;
  readonly model: string | undefined;
  readonly settings: LiveSettings;
}

/** Returns the limits of a CLI's account: all members with the same login of the same CLI share them. */
export async function accountLimits(
  adapter: Adapter,
  { worker, env, model, settings }: LimitedCli,
): Promise<AccountLimits> {
  const gate = await worker.accountLimit.open();
  const which: LimitedModel = { account: accountOf(adapter, env), model: model ?? adapter.id };
  const autoResume = (): boolean => settings().teams.autoResume;
  /** The limit that this agent last notified its team about. */
  let notified: LastingLimit | undefined;
  return {
    async wait(signal) {
      while (!signal.aborted) {
        const limit = await gate.limitOf(which);
        if (limit === undefined) return;
        if (limit.at !== notified?.at) await gate.notify(which, limit, gate.sentence(limit, autoResume()));
        notified = limit;
        await gate.wait(limit, signal, autoResume);
      }
    },
    met: (failure, { resumeAt }) =>
      gate.met(which, new ModelError("limited", failure, undefined, { resumeAt })),
    passed: () => gate.passed(which),
  };
}

/** Returns an id of an account: a hash of its command, its login paths and its keys. No key can be read from it. */
export function accountOf({ command, login: { paths, variables } }: Adapter, env: Env): string {
  const places = paths.map((path) => loginPlace(path, env));
  const keys = variables.map((name) => env[name]);
  return sha256(JSON.stringify(["cli", command, places, keys])).slice(0, 24);
}
