/** Where `approve --save` keeps a rule: the user's settings, those of the agent's project, or its local ones. */
export const SAVED_IN = ["user", "project", "local"] as const;
export type SavedIn = (typeof SAVED_IN)[number];
