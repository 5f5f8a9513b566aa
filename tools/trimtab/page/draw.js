// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws the page's charts: each figure names one of the specifications and holds its data sets.
(() => {
  'use strict';
  const specs = JSON.parse(document.getElementById('chart-specs').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const views = new Map();

  // The page's colours.
  const config = () => {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue('--text').trim(), line = style.getPropertyValue('--line').trim();
    const words = {labelColor: text, titleColor: text, labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal'};
    return {
      background: null, font: 'sans-serif',
      view: {stroke: line},
      axis: {...words, gridColor: line, gridOpacity: 0.6, domainColor: line, tickColor: line, labelLimit: 190,
        labelOverlap: 'greedy', labelSeparation: 6},
      legend: {...words, orient: 'bottom', direction: 'horizontal', titleOrient: 'left', labelLimit: 160},
      text: {fill: text},
      bar: {discreteBandSize: 18},
    };
  };

  const draw = async figure => {
    const data = JSON.parse(figure.querySelector('script').textContent);
    const spec = {
      ...structuredClone(specs[figure.dataset.chart]),
      $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
      datasets: data, width: 'container', autosize: {type: 'fit', contains: 'padding'}, padding: 4, config: config(),
    };
    if (figure.clientWidth < 500) {
      spec.config.axis.labelLimit = 120;
      spec.config.legend.columns = 3;
    }
    // Blocks of several depths: one depth at a time.
    if (data.depths && data.depths.length > 1) {
      spec.params = [{name: 'depth', value: data.depths[0].z, bind: {input: 'select', options: data.depths.map(d => d.z), name: 'block.z '}}];
      spec.layer.forEach(layer => { layer.transform = [{filter: 'datum.z == depth'}]; });
    }
    let place = figure.querySelector('.drawing');
    if (place) views.get(figure)?.finalize();
    else {
      place = document.createElement('div');
      place.className = 'drawing';
      figure.append(place);
    }
    place.replaceChildren();
    const many = Object.values(data).some(rows => rows.length > 1500);
    const view = new vega.View(vega.parse(vegaLite.compile(spec, {logger: quiet}).spec),
      {renderer: many ? 'canvas' : 'svg', container: place, hover: true});
    views.set(figure, view);
    await view.runAsync();
  };

  // Warnings of the compiler are for who writes specifications: errors only.
  const quiet = {
    level() { return this; }, warn() { return this; }, info() { return this; }, debug() { return this; },
    error(...what) { console.error(...what); return this; },
  };

  // One after the other, so that a long page can be read meanwhile.
  const all = async () => {
    const root = document.documentElement;
    root.dataset.charts = 'drawing';
    let drawn = 0;
    for (const figure of document.querySelectorAll('figure[data-chart]')) {
      if (figure.clientWidth === 0) continue; // folded away: drawn when it is opened
      try {
        await draw(figure);
        ++drawn;
      } catch (error) {
        console.error(figure.dataset.chart, error);
      }
      await new Promise(resolve => setTimeout(resolve));
    }
    root.dataset.charts = drawn;
  };
  let running = all();
  dark.addEventListener('change', () => { running = running.then(all); });
  document.addEventListener('toggle', event => {
    if (!event.target.open) return;
    for (const figure of event.target.querySelectorAll('figure[data-chart]'))
      if (!views.has(figure)) running = running.then(() => draw(figure));
  }, true);
  // A link to a section that is folded opens it.
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener('hashchange', open);
  open();
})();
