import type { WorkerView } from "../../../src/worker/view.ts";

const nothing = (): void => undefined;

/** A view without output. */
export const NO_VIEW: WorkerView = {
  event: nothing,
  received: nothing,
  queued: nothing,
  saving: () => nothing,
  typed: nothing,
  idle: nothing,
  waiting: nothing,
  permission: () => true,
  permissionClosed: () => undefined,
  mode: () => undefined,
  note: nothing,
  error: nothing,
};
