// One plot over time (uPlot draws it), with its legend and its numbers as text for those who don't see it.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { lonely } from './lonely.ts';

export interface Line {
  label: string;
  color: string;  // a custom property of style.css: --plot-good
  values: (number | null)[];
  fill?: boolean;
}
export interface PlotProps {
  title: string;
  summary: string;  // what a screen reader says
  times: number[];  // seconds since 1970
  lines: Line[];
  stacked?: boolean;  // bars upon each other
  format: (value: number) => string;
  theme: string;
}

// Canvas knows no custom properties: the browser resolves them on an element.
function resolved(property: string): string {
  const probe = document.createElement('span');
  probe.className = 'offscreen';
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

// Each line on top of those before it; the highest is drawn first, so that the lower ones stand in front of it.
function piled(lines: Line[]): (number | null)[][] {
  const sums: number[] = [];
  return lines.map((line) => line.values.map((value, at) => (sums[at] = (sums[at] ?? 0) + (value ?? 0))));
}

const HEIGHT = 150;
const HOUR = 3600;
const SPAN_MIN = 600;  // seconds that a plot covers at least: a gateway that has just started has one point
// Steps of the time axis in seconds. Not below a minute, which is how the labels are written.
const STEPS = [60, 120, 300, 600, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

// From the first to the last. uPlot's own proposal for a single point is the day after it.
function spanOf(plot: uPlot): uPlot.Range.MinMax {
  const times = plot.data[0];
  const high = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? high, high - SPAN_MIN), high];
}

function options(props: PlotProps, width: number): uPlot.Options {
  const grid = { stroke: resolved('--line'), width: 1 };
  const axis = { stroke: resolved('--quiet'), grid, ticks: grid, font: '12px system-ui, sans-serif' };
  const bars = uPlot.paths.bars?.({ size: [0.8, 24] });
  const shown = props.stacked ? [...props.lines].reverse() : props.lines;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { range: spanOf }, y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
    axes: [
      { ...axis, space: 60, incrs: STEPS, values: '{HH}:{mm}' },
      { ...axis, size: 66, space: 30, values: (_plot, ticks) => ticks.map((tick) => props.format(tick)) },
    ],
    series: [
      {},
      ...shown.map((line): uPlot.Series => {
        const color = resolved(line.color);
        return props.stacked
          ? { label: line.label, fill: color, width: 0, points: { show: false }, ...(bars ? { paths: bars } : {}) }
          : { label: line.label, stroke: color, width: 1.5, spanGaps: false,
              points: { show: false, size: 5, fill: color, filter: (plot, at) => lonely([...(plot.data[at] ?? [])]) } };
      }),
    ],
  };
}

function dataOf(props: PlotProps): uPlot.AlignedData {
  const rows = props.stacked ? piled(props.lines).reverse() : props.lines.map((line) => line.values);
  return [props.times, ...rows];
}

export function Plot(props: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = props.lines.map((line) => line.label).join('|') + props.theme;
  useEffect(() => {
    const element = place.current!;
    const made = new uPlot(options(props, element.clientWidth || 300), dataOf(props), element);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(dataOf(props)), [props.times, props.lines]);
  return (
    <figure class="plot">
      <figcaption>
        <span>{props.title}</span>
        <span class="legend">
          {props.lines.map((line) => <span><i class="swatch" style={{ background: `var(${line.color})` }} />{line.label}</span>)}
        </span>
      </figcaption>
      <div ref={place} class="canvas" style={{ minHeight: `${HEIGHT}px` }} role="img" aria-label={`${props.title}: ${props.summary}`} />
    </figure>
  );
}
