import { join } from "node:path";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf } from "../../os/files/fs.ts";
import { type AccountLimits, accountLimits, type ModelLimit } from "../../schema/budget.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { withLock } from "../../store/lock.ts";
import type { Home } from "../ref.ts";

/** For this many milliseconds after its end, a limit belongs to the same period: other agents wake later, and reach it again. */
const SAME_PERIOD_MS = 15 * 60_000;

function pathOf({ root }: Home, account: string): string {
  return join(root, "teams-limits", `${account}.json`);
}

/**
 * Returns the limits of an account, including ended ones.
 * @param account a hash; never a key
 * @throws TeamError PERMISSION_DENIED with the system error
 */
export function readAccountLimits(home: Home, account: string): AccountLimits | undefined {
  return readRecordFile(pathOf(home, account), accountLimits);
}

/**
 * Records a limit that a call has reached.
 * @throws TeamError LOCK_TIMEOUT; a system error if the record cannot be written
 */
export function recordAccountLimit(
  home: Home,
  account: string,
  model: string,
  limit: ModelLimit,
): Promise<void> {
  const path = pathOf(home, account);
  ensureDir(join(home.root, "teams-limits"));
  return withLock(path, ({ assertOwned }) => {
    const known = readAccountLimits(home, account) ?? { since: limit.at, models: {} };
    const isNew = !Object.values(known.models).some((other) => isSamePeriod(other, limit));
    const since = isNew ? limit.at : known.since;
    const current = Object.entries(known.models).filter(([, { until }]) => until > limit.at - SAME_PERIOD_MS);
    const models = { ...Object.fromEntries(current), [model]: limit };
    replaceFile(path, formatJson({ since, models }), { beforeRename: () => assertOwned() });
  });
}

/** Whether two limits belong to one period. A new period begins if a known end has passed and another end is known, or after a long time. */
function isSamePeriod(before: ModelLimit, now: ModelLimit): boolean {
  if (now.at < before.until) return true;
  return now.at < before.until + SAME_PERIOD_MS && !(before.isKnown && now.isKnown);
}

/** Removes the limit of a model after a successful call. Does nothing if there is none. */
export async function clearAccountLimit(home: Home, account: string, model: string): Promise<void> {
  const path = pathOf(home, account);
  if (entryOf(path) === undefined) return;
  await withLock(path, ({ assertOwned }) => {
    const known = readAccountLimits(home, account);
    if (known?.models[model] === undefined) return;
    const { [model]: _, ...models } = known.models;
    replaceFile(path, formatJson({ ...known, models }), { beforeRename: () => assertOwned() });
  });
}
