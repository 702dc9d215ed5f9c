import type { Plugin } from "rolldown";

export function leanLockfile(): Plugin;
