import type { Plugin } from "rolldown";

export function leanLockfile(options?: { readonly silent?: boolean }): Plugin;
