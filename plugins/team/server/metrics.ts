/** Counters of a node, in the text format of Prometheus. */

/** Upper bounds in seconds. */
const BUCKETS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const answers = new Map<string, number>();
  const buckets = BUCKETS.map(() => 0);
  let seconds = 0;
  let count = 0;
  const pushes = { imported: 0, unchanged: 0, withdrawn: 0 };

  return {
    pushes,

    answered(status: number, ms: number): void {
      const group = `${Math.floor(status / 100)}xx`;
      answers.set(group, (answers.get(group) ?? 0) + 1);
      seconds += ms / 1000;
      count++;
      for (const [i, most] of BUCKETS.entries()) if (ms / 1000 <= most) buckets[i] = (buckets[i] ?? 0) + 1;
    },

    /** `gauges`: figures of now, by name. */
    text(gauges: Readonly<Record<string, number>>): string {
      const lines = [
        "# HELP sessarc_team_requests_total Answers by class of status.",
        "# TYPE sessarc_team_requests_total counter",
        ...[...answers].sort().map(([group, n]) => `sessarc_team_requests_total{status="${group}"} ${n}`),
        "# HELP sessarc_team_request_seconds Time until the answer began.",
        "# TYPE sessarc_team_request_seconds histogram",
        ...BUCKETS.map((most, i) => `sessarc_team_request_seconds_bucket{le="${most}"} ${buckets[i]}`),
        `sessarc_team_request_seconds_bucket{le="+Inf"} ${count}`,
        `sessarc_team_request_seconds_sum ${seconds}`,
        `sessarc_team_request_seconds_count ${count}`,
        "# HELP sessarc_team_sessions_total Pushed and withdrawn sessions by outcome.",
        "# TYPE sessarc_team_sessions_total counter",
        ...Object.entries(pushes).map(([outcome, n]) => `sessarc_team_sessions_total{outcome="${outcome}"} ${n}`),
        ...Object.entries(gauges).flatMap(([name, value]) => [
          `# TYPE sessarc_team_${name} gauge`,
          `sessarc_team_${name} ${value}`,
        ]),
      ];
      return `${lines.join("\n")}\n`;
    },
  };
}
